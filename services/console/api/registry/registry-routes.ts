import { hash } from 'node:crypto';
import { json, Router } from 'express';
import type { z } from 'zod';
import { QueueFullError, FairQueue } from '#shared/accounts/keys/fair-queue.ts';
import type { NewRegistryVersion } from '#shared/accounts/registry-versions/registry-versions.ts';
import { RouterError } from '#shared/core/errors.ts';
import { checkInThread } from '#shared/registry/check-in-thread.ts';
import type { CheckedRegistry, RegistryInput } from '#shared/registry/check-registry.ts';
import { maxRegistryBytes } from '#shared/registry/editable-sections.ts';
import { problemSentence, type RegistryProblem } from '#shared/registry/registry-problem.ts';
import type { OpenRegistry } from '#shared/serving/open/open-registry.ts';
import type { RegistryCheck, RegistryState } from '../../contract/registry.ts';
import { requireAccess } from '../access.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { parse } from '../parse.ts';
import { signedInOf, type SignedIn } from '../session/signed-in.ts';
import { versionAnswer, versionList } from './registry-answers.ts';
import { changeSchema, checkSchema, revertSchema, versionSchema } from './registry-schemas.ts';

/** Most bytes of a body: in JSON, a line break takes two. */
const maxBodyBytes = 2 * maxRegistryBytes + 16 * 1024;

export interface RegistryRoutesParts extends Pick<ApiParts, 'accounts' | 'log'> {
  registry: Pick<OpenRegistry, 'source' | 'shown' | 'version' | 'changed'>;
}

/** The routes of `contract/registry.ts`, for administrators. They read their bodies themselves, as those are large. */
export function registryRoutes(parts: RegistryRoutesParts): Router {
  const { accounts, registry } = parts;
  const { registryVersions: versions, users } = accounts;
  /** A check takes a core for up to a second. */
  const checks = new FairQueue({ concurrency: 1, waitingPerOwner: 4, waiting: 16 });
  const routes = Router();
  routes.use('/registry', json({ limit: maxBodyBytes }));

  routes.get('/registry', async (_, response) => {
    requireAccess('registry.see', signedInOf(response));
    response.json(await state());
  });
  routes.put('/registry', async (request, response) => {
    const person = signedInOf(response);
    requireAccess('registry.change', person);
    const { basedOn, note, ...input } = parse(changeSchema, request.body);
    requireStore();
    await store(person, 'registry.change', { ...(await checked(person, inputOf(input))), basedOn, note });
    response.json(await state());
  });
  routes.post('/registry/check', async (request, response) => {
    const person = signedInOf(response);
    requireAccess('registry.change', person);
    const found = await check(person, inputOf(parse(checkSchema, request.body)));
    const problems = 'problems' in found ? found.problems : [];
    response.json({ ok: problems.length === 0, problems } satisfies RegistryCheck);
  });
  routes.get('/registry/versions', async (_, response) => {
    requireAccess('registry.see', signedInOf(response));
    response.json(await versionList(users, await versions.list()));
  });
  routes.get('/registry/versions/:version', async (request, response) => {
    requireAccess('registry.see', signedInOf(response));
    const found = await versions.find(parse(versionSchema, request.params).version);
    if (!found) throw notFound();
    response.json(await versionAnswer(users, found));
  });
  routes.post('/registry/revert', async (request, response) => {
    const person = signedInOf(response);
    requireAccess('registry.change', person);
    const { version, basedOn = (await versions.newest())?.number ?? 0 } = parse(revertSchema, request.body);
    requireStore();
    const earlier = await versions.find(version);
    if (!earlier) throw notFound();
    // Another release may have stored it.
    const again = await checked(person, { text: earlier.text });
    await store(person, 'registry.revert', { ...again, basedOn, revertOf: version });
    response.json(await state());
  });
  return routes;

  async function state(): Promise<RegistryState> {
    if (registry.source === 'file') {
      const config = registry.shown();
      const etag = hash('sha256', JSON.stringify(config), 'base64url').slice(0, 16);
      return { source: 'file', readOnly: true, version: 0, etag, config };
    }
    const newest = await versions.newest();
    const found = newest && (await versions.find(newest.number));
    const inUse = registry.version()?.number ?? 0;
    if (!found) return { source: 'none', readOnly: false, version: 0, etag: '', config: {}, text: '' };
    const { number, etag, config, text } = found;
    return {
      source: 'store',
      readOnly: false,
      version: number,
      etag,
      config,
      text,
      ...(inUse !== number && { inUse }),
    };
  }

  /** @throws ApiFailure 409 when a file is the registry */
  function requireStore(): void {
    if (registry.source === 'store') return;
    const message = 'The registry is the file that ROUTER_CONFIG names. It is edited there, and can only be read here.';
    throw new ApiFailure(409, 'registry_read_only', message);
  }

  async function check(person: SignedIn, input: RegistryInput): Promise<CheckedRegistry> {
    try {
      return await checks.run(person.id, () => checkInThread(input));
    } catch (error) {
      if (!(error instanceof QueueFullError)) throw error;
      const message = 'Too many registries are being checked. Please try again soon.';
      throw new RouterError('overloaded', message, { retryAfter: 2, cause: error });
    }
  }

  /** @throws ApiFailure 400 that names the field */
  async function checked(
    person: SignedIn,
    input: RegistryInput,
  ): Promise<Exclude<CheckedRegistry, { problems: unknown }>> {
    const found = await check(person, input);
    if ('problems' in found) throw invalid(found.problems);
    return found;
  }

  /** Stores a version and records it. @throws ApiFailure 409 when another one was stored meanwhile */
  async function store(person: SignedIn, action: string, version: Omit<NewRegistryVersion, 'by'>): Promise<void> {
    const { basedOn, note, revertOf } = version;
    const outcome = await versions.add({ ...version, by: person.id });
    if ('newest' in outcome) {
      const message = `Version ${outcome.newest} is the newest one, and this edit is based on version ${basedOn}. Load it and edit it again.`;
      throw new ApiFailure(409, 'registry_changed', message, { field: 'basedOn' });
    }
    await registry.changed();
    const details = { before: basedOn, after: outcome.stored, revertOf, note };
    await record(parts, person, {
      action,
      target: { kind: 'registry', id: 'registry', name: 'registry' },
      details,
    });
  }
}

function inputOf({ text, config = {} }: z.output<typeof checkSchema>): RegistryInput {
  return text === undefined ? { config } : { text };
}

function invalid(problems: readonly RegistryProblem[]): ApiFailure {
  const [first = { message: 'This is not valid.' }] = problems;
  const { field } = first;
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`;
  return new ApiFailure(
    400,
    'invalid_registry',
    `${problemSentence(first)}${more}`,
    field === undefined ? {} : { field },
  );
}
