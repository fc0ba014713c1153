import express from 'express';
import { expect, it, vi } from 'vitest';
import { createAdminApi } from '#services/console/api/admin-api.ts';
import { openConsole } from '../../../../helpers/console/open-console.ts';
import { serveInTest } from '../../../../helpers/servers/serve-http.ts';
import { silentLog } from '../../../../helpers/silent-log.ts';

it('the document of the Admin API needs no token', async () => {
  const { url } = await openConsole();
  const answer = await fetch(`${url}/api/admin/v1/openapi.json`);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ openapi: '3.1.0', info: { title: 'Model Router: Admin API' } });
});

it('all answers with the document share its bytes', async () => {
  const { accounts, secondFactors } = await openConsole();
  const written: unknown[] = [];
  const app = express();
  app.use(
    (_, response, next) => {
      const end = vi.spyOn(response, 'end');
      response.once('finish', () => written.push(end.mock.calls[0]?.[0]));
      next();
    },
    createAdminApi({ accounts, secondFactors, log: silentLog, confirmHolder: async () => 'confirmed' }, []),
  );
  const url = await serveInTest(app);
  for (let at = 0; at < 2; at += 1) await (await fetch(`${url}/openapi.json`)).arrayBuffer();
  expect(written).toEqual([expect.any(Buffer), expect.any(Buffer)]);
  expect(written[1]).toBe(written[0]);
});
