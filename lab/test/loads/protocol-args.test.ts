import { describe, expect, it } from 'vitest';
import { protocolArgs } from '../../src/loads/protocol-args.ts';

describe('protocolArgs', () => {
  it('forces QUIC on every host for h3, and on an unused port for the natural choice', () => {
    expect(protocolArgs('h3', ['a.test', 'b.test'])).toContain(
      '--origin-to-force-quic-on=a.test:443,b.test:443',
    );
    expect(protocolArgs('natural', ['a.test', 'b.test'])).toContain(
      '--origin-to-force-quic-on=a.test:9,b.test:9',
    );
  });

  it('forces QUIC under an assignment on origins assigned to h3, and leaves it off without any', () => {
    const assignment = {
      'https://a.test': 'h3',
      'https://b.test': 'h2',
      'https://c.test:8443': 'h3',
    } as const;
    expect(protocolArgs({ assignment }, ['a.test', 'b.test', 'c.test'])).toEqual([
      '--enable-quic',
      '--origin-to-force-quic-on=a.test:443,c.test:8443',
    ]);
    expect(protocolArgs({ assignment: { 'https://a.test': 'h1' } }, ['a.test'])).toEqual(['--disable-quic']);
  });

  it('enables only HTTP/2 for h2', () => {
    expect(protocolArgs('h1', [])).toEqual(['--disable-http2', '--disable-quic']);
    expect(protocolArgs('h2', [])).toEqual(['--disable-quic']);
  });
});
