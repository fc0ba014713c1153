import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import { isJsonObject, type Json } from '#shared/core/json.ts';
import { version } from '#shared/core/version.ts';
import { subjects, type Operation } from './operation.ts';
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
  401: 'No token, or one that is unknown, revoked or expired.',
  403: 'The scope of the token, or the role of its person, does not permit this.',
  404: 'It does not exist, or the person may not see it.',
  409: 'It does not fit to what is there; the code says why.',
  412: 'It is not at the revision that `If-Match` names.',
  429: 'Too many at once: try again after the seconds in `retry-after`.',
  503: 'The account store does not answer: try again after the seconds in `retry-after`.',
} as const;

const etag = z.string().describe('The revision, as `"7"`: send it in `If-Match` with a change.');

/** Returns the document of the Admin API, in OpenAPI 3.1. */
export function openApiDocument(operations: readonly Operation[]): object {
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
        'Times are milliseconds since 1970. Lists are answered in pages: `next` of a page is the `cursor` of the one after it. An answer with an',
        '`ETag` can be changed with `If-Match`, and is then refused with 412 when somebody else has changed it meanwhile. An operation that',
        'takes no `If-Match` refuses it with 400.',
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
      // A newer release may answer more fields than this document describes.
      override: ({ jsonSchema, io }) => {
        if (io === 'output') delete jsonSchema.additionalProperties;
      },
    }),
  );
}

/**
 * Removes `additionalProperties` beside each `$ref`. A reference with a description becomes a closed copy of its schema, which would refuse
 * every field.
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
      ...(etags.takes && { header: z.object({ 'if-match': z.string().optional().describe('A revision, as `"7"`.') }) }),
    },
    ...(body && { requestBody: { content: { 'application/json': { schema: body } }, required: true } }),
    responses: {
      ...Object.fromEntries(statuses.map((status) => [status, success(operation)])),
      ...Object.fromEntries(
        failuresOf(operation).map((status) => [
          status,
          { description: failures[status], content: { 'application/json': { schema: failure } } },
        ]),
      ),
    },
  };
}

function failuresOf({ query, body, path, etags, method }: Operation): (keyof typeof failures)[] {
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

function success({ answer, isList, files, etags }: Operation) {
  const headers = etags.answers ? { headers: z.object({ etag }) } : {};
  if (files.length > 0) {
    const content = Object.fromEntries(files.map((type) => [type, { schema: z.string() }]));
    return { description: 'The file.', content };
  }
  if (answer === undefined) return { description: 'Done.' };
  const schema = isList ? pageOf(answer) : answer;
  return { description: 'Done.', ...headers, content: { 'application/json': { schema } } };
}

function pageOf(item: z.ZodType): z.ZodType {
  return z.object({
    data: z.array(item),
    next: z
      .string()
      .optional()
      .describe(`\`cursor\` of the page after it: absent on the last one. ${pageQuery.shape.limit.description ?? ''}`),
  });
}
