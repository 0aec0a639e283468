//! A certificate that signs itself.

use std::path::PathBuf;

use boring::asn1::Asn1Time;
use boring::ec::{EcGroup, EcKey};
use boring::hash::MessageDigest;
use boring::nid::Nid;
use boring::pkey::PKey;
use boring::x509::{X509, X509Name};
use tempfile::TempDir;

pub fn chain_path(folder: &TempDir) -> PathBuf {
    folder.path().join("chain.pem")
}

pub fn key_path(folder: &TempDir) -> PathBuf {
    folder.path().join("key.pem")
}

/// Keeps one that is there already.
pub fn write(folder: &TempDir) {
    if chain_path(folder).exists() {
        return;
    }
    let curve = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    let key = PKey::from_ec_key(EcKey::generate(&curve).unwrap()).unwrap();
    let mut name = X509Name::builder().unwrap();
    name.append_entry_by_text("CN", "www.lab.test").unwrap();
    let name = name.build();
    let mut certificate = X509::builder().unwrap();
    certificate.set_version(2).unwrap();
    certificate.set_subject_name(&name).unwrap();
    certificate.set_issuer_name(&name).unwrap();
    certificate.set_not_before(&Asn1Time::days_from_now(0).unwrap()).unwrap();
    certificate.set_not_after(&Asn1Time::days_from_now(1).unwrap()).unwrap();
    certificate.set_pubkey(&key).unwrap();
    certificate.sign(&key, MessageDigest::sha256()).unwrap();
    std::fs::write(chain_path(folder), certificate.build().to_pem().unwrap()).unwrap();
    std::fs::write(key_path(folder), key.private_key_to_pem_pkcs8().unwrap()).unwrap();
}
