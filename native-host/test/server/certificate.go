package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// makeCertificate makes a CA, writes its certificate to caFile (unless that is empty) and returns
// a leaf for localhost, *.localhost, *.lab.test, the loopback addresses and address, which ends after lifetime.
func makeCertificate(caFile string, address net.IP, lifetime time.Duration) (tls.Certificate, error) {
	none := tls.Certificate{}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return none, err
	}
	serial := time.Now().UnixNano()
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		// A name of its own: in a bundle of several, issuers are looked up by name.
		Subject:               pkix.Name{CommonName: fmt.Sprintf("hopwise native host test CA %d", serial)},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return none, err
	}
	if caFile != "" {
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})
		if err := os.WriteFile(caFile, text, 0o600); err != nil {
			return none, err
		}
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return none, err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(serial + 1),
		Subject:      pkix.Name{CommonName: "localhost"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(lifetime),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:     []string{"localhost", "*.localhost", "*.lab.test"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, address},
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca, leafKey.Public(), caKey)
	if err != nil {
		return none, err
	}
	return tls.Certificate{Certificate: [][]byte{der, caDER}, PrivateKey: leafKey}, nil
}
