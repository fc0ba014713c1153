import express from 'express';
import { createLog } from '#shared/core/log.ts';
import type { UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import type { LimitedParty } from '#shared/accounts/limits/limits.ts';
import { createFailureHandler } from '#services/console/api/create-failure-handler.ts';
import { setActor } from '#services/console/api/actor.ts';
import { mountOperations } from '#services/console/api/operations/mount-operations.ts';
import type { Operation } from '#services/console/api/operations/operation.ts';
import { serveInTest } from '../servers/serve-http.ts';

const log = createLog({ service: 'test', level: 'silent', format: 'json' });

const viewers = {
  admin: { userId: 'boss', isAdmin: true, keyIds: [], teamIds: [] },
  ada: { userId: 'ada', isAdmin: false, keyIds: [], teamIds: ['t1'] },
  bob: { userId: 'bob', isAdmin: false, keyIds: [], teamIds: ['t2'] },
  eve: { userId: 'eve', isAdmin: false, keyIds: [], teamIds: [] },
  stranger: { userId: '', isAdmin: false, keyIds: [], teamIds: [] },
} satisfies Record<string, UsageViewer>;

export type Viewer = keyof typeof viewers;

/** The rights of each viewer, and the names of Ada and of the team t1. */
export const people = {
  viewerOf: ({ id }: { id: string }): UsageViewer => viewers[id as Viewer],
  namesOf: async () =>
    new Map<LimitedParty, string>([
      ['user:ada', 'Ada'],
      ['team:t1', 'Research'],
    ]),
};

/**
 * Serves operations for the duration of the running test. The viewer is an administrator unless a header names another.
 * @param path their path; there, programs without the header of a viewer are the administrator
 */
export async function serveOperations(operations: readonly Operation[], path = '/') {
  const app = express();
  app.use(express.json());
  app.use((request, response, next) => {
    const id = request.get('x-viewer') ?? (path === '/' ? '' : 'admin');
    setActor(response, { id, name: id, role: id === 'admin' ? 'admin' : 'member', teams: new Map(), address: '' });
    next();
  });
  app.use(path, mountOperations(operations, { pageSize: Infinity }), createFailureHandler(log));
  const origin = await serveInTest(app);
  const url = path === '/' ? origin : origin + path;
  const ask = (asked: string, viewer: Viewer = 'admin', init: RequestInit = {}): Promise<Response> =>
    fetch(url + asked, { ...init, headers: { 'x-viewer': viewer, 'content-type': 'application/json' } });
  return {
    origin,
    ask,
    read: async <T>(asked: string, viewer?: Viewer) => (await (await ask(asked, viewer)).json()) as T,
  };
}
