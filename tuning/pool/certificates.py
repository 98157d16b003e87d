"""The certificates of a pool: an authority of its own, and one certificate that it signed.

The authority's key is thrown away, so that it never signs another one. Who holds the certificate's key may run code on
every machine of the pool: certificates know no roles.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from distributed.security import Security

from tilework.algebra.errors import TileworkError

AUTHORITY, CERTIFICATE, KEY = "authority.pem", "certificate.pem", "key.pem"
DAYS = 365
"""So long certificates are valid."""


def write_certificates(folder: Path) -> None:
    """Make a pool's certificates. Raises TileworkError where some are there already, or none can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in _made().items():
            with open(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
    except FileExistsError as error:
        raise TileworkError(f"{error.filename} is there already: new certificates need a new folder") from None
    except OSError as error:
        raise TileworkError(f"cannot write {error.filename}: {error.strerror}") from None


def security_with(folder: Path | None) -> Security:
    """What Dask is told of certificates; without a folder, nothing. Raises TileworkError where a file is missing."""
    if folder is None:
        return Security()
    for name in (AUTHORITY, CERTIFICATE, KEY):
        if not (folder / name).is_file():
            hint = "make them with tilework pool certificates, or copy those of the pool"
            raise TileworkError(f"{folder} holds no certificates of a pool, since it has no {name}: {hint}")
    pair = {
        f"tls_{role}_{part}": str(folder / name)
        for role in ("scheduler", "worker", "client")
        for part, name in (("cert", CERTIFICATE), ("key", KEY))
    }
    return Security(tls_ca_file=str(folder / AUTHORITY), require_encryption=True, **pair)


def _made() -> dict[str, bytes]:
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority, member = _name("Tilework authority"), _name("Tilework pool")
    uses = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
    of_authority = _certificate(authority, authority, authority_key)
    of_authority = of_authority.add_extension(x509.BasicConstraints(True, 0), critical=True)
    of_member = _certificate(member, authority, key)
    of_member = of_member.add_extension(x509.BasicConstraints(False, None), critical=True)
    of_member = of_member.add_extension(uses, critical=False)
    return {
        AUTHORITY: of_authority.sign(authority_key, hashes.SHA256()).public_bytes(Encoding.PEM),
        CERTIFICATE: of_member.sign(authority_key, hashes.SHA256()).public_bytes(Encoding.PEM),
        KEY: key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    }


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _certificate(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=subject,
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=now - timedelta(minutes=5),  # clocks differ
        not_valid_after=now + timedelta(days=DAYS),
    )
