import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import { isJsonObject, type Json } from '#shared/core/json.ts';
import { version } from '#shared/core/version.ts';
import { subjects } from '../../contract/operation.ts';
import type { Operation } from './operation.ts';
import { pageQuery } from './page.ts';

const failure = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string().describe('A sentence for a person.'),
      field: z.string().optional().describe('The invalid input.'),
    }),
  })
  .meta({ id: 'Failure', description: 'A refused or failed request.' });

const failures = {
  400: 'The input is not valid: `field` names it.',
  401: 'The token is missing, unknown, revoked or expired.',
  403: 'The scope of the token, or the role of its person, does not permit this.',
  404: 'The resource does not exist, or the person may not see it.',
  409: 'The request conflicts with what exists. `code` says how.',
  412: 'The resource does not have the revision that `If-Match` names.',
  429: 'Too many requests at once: try again after the seconds in `retry-after`.',
  503: 'The account store does not answer: try again after the seconds in `retry-after`.',
} as const;

const etag = z.string().describe('The revision, for example `"7"`. Send it in `If-Match` with a change.');

/** Creates the OpenAPI 3.1 document of the Admin API. */
export function createOpenApiDocument(operations: readonly Operation[]): object {
  const paths: ZodOpenApiPathsObject = {};
  for (const operation of operations) {
    const path = operation.path.replaceAll('{+', '{');
    paths[path] = { ...paths[path], [operation.method]: describe(operation) };
  }
  const definition: ZodOpenApiObject = {
    openapi: '3.1.0',
    info: {
      title: 'Model Router: Admin API',
      version,
      description: [
        'People, teams, keys, limits, prices and workers of a Model Router. Every operation takes an admin token, which has the rights of the',
        'person who made it within its scopes.',
        '',
        'Times are milliseconds since 1970. Lists come in pages: `next` of a page is the `cursor` of the page after it. To change a resource',
        'that came with an `ETag`, send the `ETag` in `If-Match`: if somebody else has changed the resource meanwhile, the change is refused',
        'with 412. An operation that does not support `If-Match` refuses a request with it, with 400.',
      ].join('\n'),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/api/admin/v1' }],
    security: [{ adminToken: [] }],
    tags: Object.entries(subjects)
      .filter(([subject]) => operations.some((operation) => operation.subject === subject))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        adminToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'An admin token, `rtradmin_…`: made in the console under Account, or with `rtr tokens create`.',
        },
      },
    },
  };
  return openReferences(
    createDocument(definition, {
      // Answers are open objects, because a newer release may add fields to them.
      override: ({ jsonSchema, io }) => {
        if (io === 'output') delete jsonSchema.additionalProperties;
      },
    }),
  );
}

/**
 * Removes `additionalProperties` beside each `$ref`. The library writes a reference with a description as an object schema that is closed
 * and has no fields of its own, so that it would refuse every field.
 */
function openReferences<Part>(document: Part): Part {
  return JSON.parse(JSON.stringify(document), (_, value: Json) => {
    if (isJsonObject(value) && '$ref' in value) delete value['additionalProperties'];
    return value;
  }) as Part;
}

function describe(operation: Operation): ZodOpenApiOperationObject {
  const { id, subject, summary, scopes, command, path, query, body, statuses, etags } = operation;
  const names = [...path.matchAll(/\{\+?(\w+)\}/g)].flatMap(([, name]) => name ?? []);
  const needed = [...scopes, 'admin'].map((scope) => `\`${scope}\``).join(' or ');
  return {
    operationId: id,
    tags: [subject],
    summary,
    description: `Scope: ${needed}. On the command line: \`rtr ${command}\`.`,
    requestParams: {
      ...(names.length > 0 && { path: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))) }),
      ...(query && { query }),
      ...(etags.takes && {
        header: z.object({ 'if-match': z.string().optional().describe('A revision, for example `"7"`.') }),
      }),
    },
    ...(body && { requestBody: { content: { 'application/json': { schema: body } }, required: true } }),
    responses: {
      ...Object.fromEntries(statuses.map((status) => [status, toResponse(operation)])),
      ...Object.fromEntries(
        listFailures(operation).map((status) => [
          status,
          { description: failures[status], content: { 'application/json': { schema: failure } } },
        ]),
      ),
    },
  };
}

function listFailures({ query, body, path, etags, method }: Operation): (keyof typeof failures)[] {
  const hasInput = query !== undefined || body !== undefined;
  return [
    ...(hasInput ? [400 as const] : []),
    401,
    403,
    ...(path.includes('{') ? [404 as const] : []),
    ...(method === 'get' ? [] : [409 as const]),
    ...(etags.takes ? [412 as const] : []),
    429,
    503,
  ];
}

function toResponse({ answer, isList, files, etags }: Operation) {
  const headers = etags.answers ? { headers: z.object({ etag }) } : {};
  if (files.length > 0) {
    const content = Object.fromEntries(files.map((type) => [type, { schema: z.string() }]));
    return { description: 'The file.', content };
  }
  if (answer === undefined) return { description: 'Done.' };
  const schema = isList ? toPageSchema(answer) : answer;
  return { description: 'Done.', ...headers, content: { 'application/json': { schema } } };
}

function toPageSchema(item: z.ZodType): z.ZodType {
  return z.object({
    data: z.array(item),
    next: z
      .string()
      .optional()
      .describe(`The \`cursor\` of the next page. Absent on the last page. ${pageQuery.shape.limit.description ?? ''}`),
  });
}
