package serve

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// chunkOverhead is the length, type and checksum of a PNG chunk.
const chunkOverhead = 12

// fillerPNG makes a valid image of width × height that is exactly size bytes long: a grey area of one bit for each pixel (PNG
// third edition, section 11.2.2), padded with noise in a private ancillary chunk that decoders skip (section 14.2). A gap too
// small for a chunk is filled after the image's end, which decoders ignore.
func fillerPNG(width, height, size int, seed uint64) ([]byte, error) {
	var image bytes.Buffer
	image.WriteString("\x89PNG\r\n\x1a\n")
	header := binary.BigEndian.AppendUint32(nil, uint32(width))
	header = binary.BigEndian.AppendUint32(header, uint32(height))
	// Bit depth 1, greyscale, deflate, adaptive filters, not interlaced.
	writeChunk(&image, "IHDR", append(header, 1, 0, 0, 0, 0))

	var pixels bytes.Buffer
	deflate, err := zlib.NewWriterLevel(&pixels, zlib.BestCompression)
	if err != nil {
		return nil, err
	}
	// Each row consists of its filter's number and the packed pixels.
	row := make([]byte, 1+(width+7)/8)
	for range height {
		if _, err := deflate.Write(row); err != nil {
			return nil, err
		}
	}
	if err := deflate.Close(); err != nil {
		return nil, err
	}
	smallest := image.Len() + chunkOverhead + pixels.Len() + chunkOverhead
	gap := size - smallest
	if gap < 0 {
		return nil, fmt.Errorf("expected at least %d bytes for an image of %d × %d, got %d", smallest, width, height, size)
	}
	if gap >= chunkOverhead {
		writeChunk(&image, "hwPd", noise(gap-chunkOverhead, seed))
	}
	writeChunk(&image, "IDAT", pixels.Bytes())
	writeChunk(&image, "IEND", nil)
	if gap < chunkOverhead {
		image.Write(make([]byte, gap))
	}
	return image.Bytes(), nil
}

func writeChunk(out io.Writer, kind string, data []byte) {
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	chunk = append(chunk, kind...)
	chunk = append(chunk, data...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	// A bytes.Buffer never fails.
	_, _ = out.Write(chunk)
}
