// relu(relu(x)) = relu(x)
pdl.pattern @relu_of_relu : benefit(1) {
  %type = pdl.type
  %x = pdl.operand
  %inner = pdl.operation "graph.relu" (%x : !pdl.value) -> (%type : !pdl.type)
  %value = pdl.result 0 of %inner
  %outer = pdl.operation "graph.relu" (%value : !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %outer {
    pdl.replace %outer with %inner
  }
}

// min(max(relu(x), 0), high) = min(max(x, 0), high), for whatever bound `high` is
pdl.pattern @clip_of_relu : benefit(1) {
  %type = pdl.type
  %low = pdl.attribute = 0.0 : f32
  %high = pdl.attribute
  %x = pdl.operand
  %inner = pdl.operation "graph.relu" (%x : !pdl.value) -> (%type : !pdl.type)
  %value = pdl.result 0 of %inner
  %clip = pdl.operation "graph.clip" (%value : !pdl.value) {"low" = %low, "high" = %high} -> (%type : !pdl.type)
  pdl.rewrite %clip {
    %new = pdl.operation "graph.clip" (%x : !pdl.value) {"low" = %low, "high" = %high} -> (%type : !pdl.type)
    pdl.replace %clip with %new
  }
}
