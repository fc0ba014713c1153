import { request } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Whether a Docker engine answers a ping within two seconds, at `DOCKER_HOST` or on one of the usual sockets. */
export async function dockerAnswers(environment = process.env): Promise<boolean> {
  const host = environment['DOCKER_HOST'];
  const sockets = ['/var/run/docker.sock', join(homedir(), '.docker/run/docker.sock')];
  if (environment['XDG_RUNTIME_DIR']) sockets.push(join(environment['XDG_RUNTIME_DIR'], 'docker.sock'));
  if (host?.startsWith('unix://')) return ping({ socketPath: host.slice('unix://'.length) });
  if (host) {
    const { hostname, port } = new URL(host);
    return ping({ host: hostname, port });
  }
  const answers = await Promise.all(sockets.map((socketPath) => ping({ socketPath })));
  return answers.includes(true);
}

function ping(where: { socketPath: string } | { host: string; port: string }): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ ...where, path: '/_ping', timeout: 2_000 }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
    asked.end();
  });
}
