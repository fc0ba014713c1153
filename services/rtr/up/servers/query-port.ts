import { connect } from 'node:net';

/**
 * Sends bytes to a TCP port and returns the answer as text as soon as the answer matches `until`. Returns undefined if the answer does not
 * match within `timeoutMs`, or if nothing listens.
 */
export function queryPort(
  address: { host: string; port: number },
  request: string,
  until: RegExp,
  timeoutMs = 1_000,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(address);
    const finish = (result: string | undefined) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => finish(undefined), timeoutMs);
    socket.on('error', () => finish(undefined)).on('close', () => finish(undefined));
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
      if (until.test(answer)) finish(answer);
    });
    if (request) socket.write(request);
  });
}
