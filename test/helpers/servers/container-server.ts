import { GenericContainer, getContainerRuntimeClient, type WaitStrategy } from 'testcontainers';
import { queryPort } from '#services/rtr/up/servers/query-port.ts';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { until } from '../until.ts';
import type { ServerKind, TestServer } from './test-server.ts';

/** The images of the two servers; the only place that names them for tests. */
const images = {
  nats: { image: 'nats:2.12-alpine', port: 4222, command: ['-js'], question: '', ready: /^INFO .*\r\n/ },
  redis: {
    image: 'redis:8-alpine',
    port: 6379,
    command: ['--appendonly', 'yes', '--protected-mode', 'no'],
    question: 'PING\r\n',
    ready: /^\+PONG\r\n/,
  },
};

const startsWithinMs = 60_000;

/**
 * Runs a server in a container whose port is bound to a fixed free port of this machine, so that it can come back there.
 * @throws when the image cannot be pulled or the container does not start
 */
export async function startContainerServer(kind: ServerKind): Promise<TestServer> {
  const { image, port: containerPort, command } = images[kind];
  const port = await findFreePort();
  const runtime = await getContainerRuntimeClient();
  const { host } = runtime.info.containerRuntime;
  const run = () =>
    new GenericContainer(image)
      .withCommand(command)
      .withExposedPorts({ container: containerPort, host: port })
      .withWaitStrategy(answersAt({ host, port }, kind))
      .start();
  let container = await run();
  return {
    url: `${kind}://${host}:${port}`,
    port,
    stop: async () => {
      await container.stop();
    },
    kill: async () => {
      await runtime.container.getById(container.getId()).kill();
    },
    pause: async () => {
      await runtime.container.getById(container.getId()).pause();
    },
    resume: async () => {
      await runtime.container.getById(container.getId()).unpause();
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

/**
 * Waits for the server itself to answer. Its log is not enough: lines that a quick server wrote before the engine recorded its restart do
 * not count as new, and would never be found.
 */
function answersAt(where: { host: string; port: number }, kind: ServerKind): WaitStrategy {
  const { question, ready } = images[kind];
  return {
    waitUntilReady: () => until(async () => (await queryPort(where, question, ready)) !== undefined, startsWithinMs),
    withStartupTimeout() {
      return this;
    },
    isStartupTimeoutSet: () => true,
    getStartupTimeout: () => startsWithinMs,
  };
}
