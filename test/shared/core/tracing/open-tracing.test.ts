import { execFileSync } from 'node:child_process';
import { describe, expect, it, vi } from 'vitest';
import { openTracing } from '#shared/core/tracing/open-tracing.ts';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { attributeNames } from '#shared/core/tracing/attribute-names.ts';

const log = { warn: vi.fn(), info: vi.fn() };

describe('tracing', () => {
  it('is off unless the environment names a collector', async () => {
    const off = [
      {},
      { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' },
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_TRACES_EXPORTER: 'none' },
    ];
    for (const environment of off)
      expect(await openTracing({ service: 'test', instance: 'one', environment, log })).toBeUndefined();
  });

  it('loads no module of OpenTelemetry while it is off', () => {
    const look = `
      const { openTracing } = await import('#shared/core/tracing/open-tracing.ts');
      await import('#shared/broker/dispatch/dispatcher.ts');
      await import('#shared/broker/worker/start-worker.ts');
      await import('#shared/upstream/relay-answer.ts');
      await openTracing({ service: 'test', instance: 'one', environment: {}, log: console });
      const { createRequire } = await import('node:module');
      const loaded = Object.keys(createRequire(import.meta.url).cache);
      const seen = process.moduleLoadList ?? [];
      console.log(JSON.stringify([...loaded, ...hooked, ...seen]));
    `;
    // A hook gets every module that is resolved, of either kind.
    const hook = `
      import { registerHooks } from 'node:module';
      globalThis.hooked = [];
      registerHooks({ resolve: (name, context, next) => { const found = next(name, context); hooked.push(found.url); return found; } });
    `;
    const asUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
    const output = execFileSync(process.execPath, ['--import', asUrl(hook), '--input-type=module', '-e', look]);
    const seen = JSON.parse(output.toString()) as string[];
    expect(seen.some((name) => name.endsWith('/open-tracing.ts'))).toBe(true);
    // The metrics library loads the API, which does nothing by itself.
    expect(seen.filter((name) => /@opentelemetry\/(?!api\/)/.test(name))).toEqual([]);
  });
});

it('attribute names are all defined by the conventions', () => {
  const known = Object.entries(conventions).flatMap(([name, value]) => (name.startsWith('ATTR_') ? [value] : []));
  expect(known).toEqual(expect.arrayContaining(Object.values(attributeNames)));
});
