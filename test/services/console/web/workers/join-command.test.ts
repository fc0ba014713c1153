import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cliKinds as allCliKinds } from '#services/cli-worker/clis/cli.ts';
import { providerNames } from '#services/cloud-worker/providers/provider.ts';
import {
  emptyWorkerSetup,
  checkCommand,
  cliKinds,
  isLoopback,
  joinCommand,
  natsOf,
  providers,
  startCommand,
} from '#services/console/web/pages/workers/join-command.ts';
import { temporaryFolder } from '../../../../helpers/files/temporary-folder.ts';

const command = 'npx rtr worker gpu --nats nats://127.0.0.1:4222,nats://other:4222 --credentials box.creds';

describe('the command with which a worker joins', () => {
  it('configures what the worker runs on, for every tier', () => {
    const nats = natsOf(command);
    expect(nats).toBe('nats://127.0.0.1:4222,nats://other:4222');
    const start = (behind: Partial<typeof emptyWorkerSetup>) =>
      startCommand({ command, nats, behind: { ...emptyWorkerSetup, ...behind } });
    expect(start({})).toBe(`ENGINE_URL=http://127.0.0.1:8000 ${command}`);
    expect(start({ tier: 'cli', cliCommand: 'left over' })).toMatch(/^CLI_KIND=claude CLI_MODELS=sonnet npx /);
    const own = { tier: 'cli', cli: 'command', cliModels: 'm', cliCommand: "say 'it' {model}" } as const;
    expect(start(own)).toMatch(/^CLI_KIND=command CLI_MODELS=m CLI_COMMAND='say '\\''it'\\'' {model}' npx /);
    expect(start({ tier: 'cloud', provider: 'groq', providerUrl: 'left over' })).toMatch(/^PROVIDER=groq npx /);
    expect(start({ tier: 'tools' })).toBe(command);
    expect(start({ tier: 'tools', mcpFile: 'mcp.json' })).toBe(`MCP_CONFIG=mcp.json ${command}`);
  });

  it('contains the address at which the machine reaches NATS', () => {
    const start = { command, nats: 'tls://llm.example.com:443', behind: emptyWorkerSetup };
    expect(startCommand(start)).toContain(' --nats tls://llm.example.com:443 --credentials box.creds');
    const check = 'npx rtr doctor --nats tls://llm.example.com:443 --credentials box.creds --role gpu';
    expect(checkCommand(start, 'gpu')).toBe(check);
    const own = [natsOf(command), 'nats://localhost:4222', 'tls://llm.example.com'].filter(isLoopback);
    expect(own).toEqual([natsOf(command), 'nats://localhost:4222']);
  });

  it('runs in a shell: it writes the credential readable only by its owner, and starts the worker beside it', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'npx'), '#!/bin/sh\necho "$ENGINE_URL" "$@"\n', { mode: 0o755 });
    const text = '-----BEGIN-----\n$HOME `id` \\n\n-----END-----\n';
    const behind = { ...emptyWorkerSetup, engineUrl: "http://10.0.0.1/it's $HOME" };
    const whole = joinCommand({ command, nats: natsOf(command), behind }, { name: 'box.creds', text });
    const PATH = `${folder}:${process.env['PATH'] ?? ''}`;
    const printed = execFileSync('sh', ['-c', whole], { cwd: folder, env: { ...process.env, PATH }, encoding: 'utf8' });
    expect(printed.trim()).toBe(`${behind.engineUrl} ${command.replace('npx ', '')}`);
    expect(readFileSync(join(folder, 'box.creds'), 'utf8')).toBe(text);
    expect(statSync(join(folder, 'box.creds')).mode & 0o077).toBe(0);
  });

  it('offers every command-line agent and provider that a worker supports', () => {
    expect(cliKinds).toEqual(allCliKinds);
    expect(providers).toEqual(providerNames);
  });
});
