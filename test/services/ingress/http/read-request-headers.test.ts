import { expect, it } from 'vitest';
import { readMaxWait } from '#services/ingress/http/read-request-headers.ts';

it.each([
  ['2', 2_000],
  ['0.25', 250],
  ['3600', 3_600_000],
  [undefined, undefined],
])('the wait of %s that a client allows is read in milliseconds: %d', (value, ms) => {
  expect(readMaxWait({ 'x-rtr-max-wait': value })).toBe(ms);
});

const wrong = ['', '0', '0.0', '-1', '3600.1', '1e3', '0x10', 'Infinity', 'soon', '1, 2'];
it.each(wrong)('the wait of %j that a client allows is refused', (value) => {
  expect(() => readMaxWait({ 'x-rtr-max-wait': value })).toThrow('x-rtr-max-wait');
});
