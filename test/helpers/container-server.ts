import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers';
import { freePort } from '../../services/rtr/up/free-port.ts';
import type { ServerKind, TestServer } from './test-server.ts';

/** The images of the two servers; the only place that names them for tests. */
const images = {
  nats: { image: 'nats:2.12-alpine', port: 4222, command: ['-js'], ready: /Server is ready/ },
  redis: {
    image: 'redis:8-alpine',
    port: 6379,
    command: ['--appendonly', 'yes', '--protected-mode', 'no'],
    ready: /Ready to accept connections/,
  },
};

/**
 * Runs a server in a container whose port is bound to a fixed free port of this machine, so that it can come back there.
 * @throws when the image cannot be had or the container does not start
 */
export async function startContainerServer(kind: ServerKind): Promise<TestServer> {
  const { image, port: containerPort, command, ready } = images[kind];
  const port = await freePort();
  const run = () =>
    new GenericContainer(image)
      .withCommand(command)
      .withExposedPorts({ container: containerPort, host: port })
      .withWaitStrategy(Wait.forLogMessage(ready))
      .withStartupTimeout(60_000)
      .start();
  let container = await run();
  const runtime = await getContainerRuntimeClient();
  return {
    url: `${kind}://${container.getHost()}:${port}`,
    port,
    stop: async () => {
      await container.stop();
    },
    kill: async () => {
      await runtime.container.getById(container.getId()).kill();
    },
    restart: async ({ keepData = true } = {}) => {
      if (keepData) {
        await container.restart();
      } else {
        await container.stop({ timeout: 0 });
        container = await run();
      }
    },
  };
}
