import { json, Router } from 'express';
import { refuseMethod } from '../http/answer-error.ts';
import { endSlowBody } from '../http/end-slow-body.ts';
import type { BoxContext } from './box-context.ts';
import { answerBoxRefusal } from './box-refusal.ts';
import { createJoinHandler, type JoinedBox } from './join-box.ts';
import { createLeaveHandler, type LeftBox } from './leave-box.ts';

/** Largest request of a box in bytes. A request with a long host name has about 450. */
const maxBodyBytes = 4 * 1024;

/** What is recorded about boxes. The functions never throw. */
export interface BoxNotes {
  noteJoin: (joined: JoinedBox) => Promise<void>;
  noteLeave: (left: LeftBox) => Promise<void>;
}

/** Creates the routes with which a box joins, `POST /api/join`, and leaves, `POST /api/leave`. They need no key. */
export function createBoxRoutes(context: BoxContext, { noteJoin, noteLeave }: BoxNotes): Router {
  const { config, serving, arrivingBodies, log } = context;
  const routes = Router({ caseSensitive: true });
  const paths = ['/api/join', '/api/leave'];
  routes.use(paths, (_, response, next) => {
    response.set({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    serving.store.assertIntact();
    next();
  });
  routes.use(paths, endSlowBody(config.BODY_TIMEOUT_MS), arrivingBodies.createHandler(maxBodyBytes));
  const readBody = json({ limit: maxBodyBytes, inflate: false });
  routes.post('/api/join', readBody, createJoinHandler(context, noteJoin));
  routes.post('/api/leave', readBody, createLeaveHandler(context, noteLeave));
  routes.all(paths, refuseMethod('POST'));
  routes.use(paths, answerBoxRefusal(log));
  return routes;
}
