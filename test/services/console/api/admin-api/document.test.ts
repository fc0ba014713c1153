import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, it } from 'vitest';
import { credentialOperations } from '#services/console/api/credentials/credential-operations.ts';
import { openConsole } from '../../../../helpers/console/open-console.ts';

it('the document of the Admin API is valid OpenAPI 3.1 by the recommended rules, and needs no token', async () => {
  const { url } = await openConsole({
    furtherOperations: ({ accounts, log }) => credentialOperations({ accounts, log, authority: undefined }),
  });
  const answer = await fetch(`${url}/api/admin/v1/openapi.json`);
  expect(answer.status).toBe(200);
  const source = await answer.text();
  expect(JSON.parse(source)).toMatchObject({ openapi: '3.1.0', info: { title: 'Model Router: Admin API' } });
  const problems = await lintFromString({ source, config: await createConfig({ extends: ['recommended-strict'] }) });
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
});
