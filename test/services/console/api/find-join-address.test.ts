import { expect, it } from 'vitest';
import { findJoinAddress } from '#services/console/api/credentials/find-join-address.ts';

const at = (host: string, protocol = 'http') => ({ protocol, get: () => host });
const findAddress = (
  listening: { publicUrl?: string; host: string; hasTls?: boolean },
  requestHost: string,
  protocol = 'http',
  addresses = ['192.168.1.5', '10.1.1.1'],
) =>
  findJoinAddress(
    { publicUrl: undefined, hasTls: false, ...listening },
    at(requestHost, protocol),
    8484,
    () => addresses,
  );
const find = (...of: Parameters<typeof findAddress>): string => findAddress(...of).address;

it('a machine reaches the router at PUBLIC_URL, whatever the request says', () => {
  const publicUrl = 'https://llm.example.com/';
  expect(find({ publicUrl, host: '127.0.0.1' }, 'localhost:8484')).toBe('https://llm.example.com');
  expect(find({ publicUrl, host: '0.0.0.0' }, 'evil.example.com')).toBe('https://llm.example.com');
});

it('a machine reaches the router at the address that an administrator has used, unless it is a loopback address', () => {
  expect(find({ host: '0.0.0.0' }, '192.168.7.7:9000')).toBe('http://192.168.7.7:9000');
  expect(find({ host: '0.0.0.0', hasTls: true }, 'box.lan:8484')).toBe('https://box.lan:8484');
  expect(find({ host: '127.0.0.1' }, 'llm.example.com', 'https')).toBe('https://llm.example.com');
});

it('a machine reaches the router at an address of its interfaces, if it listens there', () => {
  for (const loopback of ['127.0.0.1:8484', 'localhost:8484', '[::1]:8484', '127.8.9.1']) {
    expect(find({ host: '0.0.0.0', hasTls: true }, loopback)).toBe('https://192.168.1.5:8484');
    expect(find({ host: '::' }, loopback)).toBe('http://192.168.1.5:8484');
    expect(find({ host: '10.0.0.7' }, loopback)).toBe('http://10.0.0.7:8484');
    expect(find({ host: 'fd00::7' }, loopback)).toBe('http://[fd00::7]:8484');
    expect(find({ host: '0.0.0.0' }, loopback, 'http', [])).toBe('http://127.0.0.1:8484');
    for (const host of ['127.0.0.1', 'localhost', '::1'])
      expect(find({ host, hasTls: true }, loopback)).toBe('http://127.0.0.1:8484');
  }
});

it('only an address that the router has chosen of several is a guess', () => {
  expect(findAddress({ host: '0.0.0.0' }, 'localhost:8484').isGuess).toBe(true);
  expect(findAddress({ host: '0.0.0.0' }, '192.168.7.7:9000').isGuess).toBe(false);
  expect(findAddress({ host: '10.0.0.7' }, 'localhost:8484').isGuess).toBe(false);
  expect(findAddress({ host: '0.0.0.0' }, 'localhost:8484', 'http', []).isGuess).toBe(false);
});
