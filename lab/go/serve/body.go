package serve

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"hopwise/lab/site"
)

// maxTotalBytes bounds the memory that a site's bodies take.
const maxTotalBytes = 2 << 30

// noise is incompressible filler, the same for the same seed.
func noise(size int, seed uint64) []byte {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	filler := make([]byte, size)
	// A ChaCha8 never fails to read.
	_, _ = rand.NewChaCha8(key).Read(filler)
	return filler
}

func seedOf(resource site.Resource) uint64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(resource.Origin + resource.Path))
	return hash.Sum64()
}

// makeBody reads or makes one resource's body.
func makeBody(source *site.Site, resource site.Resource) ([]byte, error) {
	body := resource.Body
	switch {
	case body.File != nil:
		content, err := source.ReadBody(*body.File)
		if err != nil {
			return nil, fmt.Errorf(".body.file: %s: %w", *body.File, err)
		}
		return content, nil
	case body.Filler == "png":
		image, err := fillerPNG(max(body.Width, 1), max(body.Height, 1), body.Bytes, seedOf(resource))
		if err != nil {
			return nil, fmt.Errorf(".body.bytes: %w", err)
		}
		return image, nil
	default:
		return noise(body.Bytes, seedOf(resource)), nil
	}
}
