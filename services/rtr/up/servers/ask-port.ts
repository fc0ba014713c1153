import { connect } from 'node:net';

/**
 * Sends some bytes to a TCP port and returns the answer as text once it contains what is waited for; undefined when it
 * does not within `withinMs`, or when nobody listens.
 */
export function askPort(
  where: { host: string; port: number },
  request: string,
  until: RegExp,
  withinMs = 1_000,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(where);
    const finish = (result: string | undefined) => {
      clearTimeout(timeout);
      socket.destroy();
      resolve(result);
    };
    const timeout = setTimeout(() => finish(undefined), withinMs);
    socket.on('error', () => finish(undefined)).on('close', () => finish(undefined));
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
      if (until.test(answer)) finish(answer);
    });
    if (request) socket.write(request);
  });
}
