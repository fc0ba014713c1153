import { relayedTarget, type SystemKind } from './system.ts';

/** No system at all: the client calls the upstream. Other systems add the difference to these measurements. */
export const direct: SystemKind = {
  name: 'direct',
  title: 'no proxy',
  settings: 'the client asks the upstream',
  socketsPerStream: 1,
  avoidsHungUpstreams: false,
  install: () => Promise.resolve(''),
  start: ({ upstreams: [port = 0] }) =>
    Promise.resolve({
      target: (route, access) => Promise.resolve(relayedTarget(port, route, access)),
      roots: () => [],
      stop: () => Promise.resolve(),
    }),
};
