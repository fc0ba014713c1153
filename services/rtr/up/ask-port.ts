import { connect } from 'node:net';

/**
 * Sends some bytes to a port of the loopback interface and returns the answer as text once it contains what is waited
 * for; undefined when it does not within `withinMs`, or when nobody listens.
 */
export function askPort(port: number, request: string, until: RegExp, withinMs = 1_000): Promise<string | undefined> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect({ port, host: '127.0.0.1' });
    const finish = (result: string | undefined) => {
      socket.destroy();
      resolve(result);
    };
    socket.setEncoding('utf8').setTimeout(withinMs, () => finish(undefined));
    socket.on('error', () => finish(undefined)).on('close', () => finish(undefined));
    socket.on('data', (text: string) => {
      answer += text;
      if (until.test(answer)) finish(answer);
    });
    if (request) socket.write(request);
  });
}
