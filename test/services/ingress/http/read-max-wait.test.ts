import { describe, expect, it } from 'vitest';
import { readMaxWait } from '#services/ingress/http/read-max-wait.ts';

describe('the wait that a client allows', () => {
  it.each([
    ['2', 2_000],
    ['0.25', 250],
    ['3600', 3_600_000],
    [undefined, undefined],
  ])('%s is read in milliseconds: %d', (value, ms) => {
    expect(readMaxWait({ 'x-rtr-max-wait': value })).toBe(ms);
  });

  it.each(['', '0', '0.0', '-1', '3600.1', '1e3', '0x10', 'Infinity', 'soon', '1, 2'])('%j is refused', (value) => {
    expect(() => readMaxWait({ 'x-rtr-max-wait': value })).toThrow('x-rtr-max-wait');
  });
});
