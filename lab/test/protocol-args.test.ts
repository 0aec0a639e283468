import { describe, expect, it } from 'vitest';
import { protocolArgs } from '../src/loads/protocol-args.ts';

describe('protocolArgs', () => {
  it('forces QUIC on every host for h3, and on a port nobody uses for the natural choice', () => {
    expect(protocolArgs('h3', ['a.test', 'b.test'])).toContain(
      '--origin-to-force-quic-on=a.test:443,b.test:443',
    );
    expect(protocolArgs('natural', ['a.test', 'b.test'])).toContain(
      '--origin-to-force-quic-on=a.test:9,b.test:9',
    );
  });

  it('forces QUIC under an assignment on the origins that are to have it, and leaves it off elsewhere', () => {
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

  it('leaves HTTP/2 on for h2 alone', () => {
    expect(protocolArgs('h1', [])).toEqual(['--disable-http2', '--disable-quic']);
    expect(protocolArgs('h2', [])).toEqual(['--disable-quic']);
  });
});
