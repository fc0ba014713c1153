import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  installBoxService,
  pauseBoxService,
  removeBoxService,
  type ServicePlace,
} from '#services/rtr/box/box-service.ts';
import { makeLasting } from '#services/rtr/box/lasting-program.ts';
import { formatLaunchdAgent, formatSystemdUnit } from '#services/rtr/box/service-file.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';

const facts = {
  name: 'joes-box',
  command: [process.execPath, '/opt/my "apps"/100%/$HOME/rtr.mjs', 'join'],
  environment: { PATH: '/usr/bin:/bin', ENGINE_URLS: 'http://10.0.0.5:8000,http://10.0.0.6:8000/%20' },
  logFile: '/tmp/box & co.log',
};

function createPlace(platform: string): { place: ServicePlace; calls: string[]; home: string } {
  const home = temporaryFolder();
  const calls: string[] = [];
  const run = (program: string, args: readonly string[]) => Promise.resolve(calls.push([program, ...args].join(' ')));
  return { place: { platform, home, userId: 501, run }, calls, home };
}

describe('the service of a box', () => {
  it('is a unit that systemd starts now and whenever the user signs in, and that goes without a trace', async () => {
    const { place, calls, home } = createPlace('linux');
    expect(await installBoxService(place, facts)).toContainEqual(expect.stringContaining('loginctl enable-linger'));
    const file = join(home, '.config/systemd/user/model-router-box.service');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(calls).toEqual([
      'systemctl --user daemon-reload',
      'systemctl --user enable model-router-box.service',
      'systemctl --user start model-router-box.service',
    ]);
    expect(await removeBoxService(place)).toBe(true);
    expect(calls.slice(3)).toEqual([
      'systemctl --user disable --now model-router-box.service',
      'systemctl --user daemon-reload',
    ]);
    expect(existsSync(file)).toBe(false);
    expect(await removeBoxService(place)).toBe(false);
  });

  it('is an agent of launchd on macOS', async () => {
    const { place, calls, home } = createPlace('darwin');
    await installBoxService(place, facts);
    const file = join(home, 'Library/LaunchAgents/model-router.box.plist');
    expect(readFileSync(file, 'utf8')).toContain('<string>/tmp/box &amp; co.log</string>');
    await removeBoxService(place);
    expect(calls).toEqual([`launchctl bootstrap gui/501 ${file}`, 'launchctl bootout gui/501/model-router.box']);
    expect(existsSync(file)).toBe(false);
  });

  it.each([
    ['linux', '.config/systemd/user/model-router-box.service', 'start'],
    ['darwin', 'Library/LaunchAgents/model-router.box.plist', 'bootstrap'],
  ])('is stopped before another version takes its place on %s, and goes on as it was if that fails', async (...row) => {
    const [platform, path, start] = row;
    const { place, calls, home } = createPlace(platform);
    expect(await pauseBoxService(place)).toBeUndefined();
    await installBoxService(place, facts);
    const earlier = readFileSync(join(home, path), 'utf8');
    calls.length = 0;
    const resume = await pauseBoxService(place);
    expect(calls).toEqual([expect.stringMatching(/disable --now|bootout/)]);
    const refusing = { ...place, run: () => Promise.reject(new Error('Failed to connect to bus')) };
    await expect(installBoxService(refusing, { ...facts, name: 'other' })).rejects.toThrow(errorWith('no_service'));
    expect(readFileSync(join(home, path), 'utf8')).toBe(earlier);
    await resume?.();
    expect(calls.at(-1)).toContain(` ${start} `);
  });

  it('is replaced by a sentence where there is no service manager, or it refuses', async () => {
    const { place } = createPlace('win32');
    await expect(installBoxService(place, facts)).rejects.toThrow(errorWith('no_service'));
    const linux = createPlace('linux');
    const refusing = { ...linux.place, run: () => Promise.reject(new Error('Failed to connect to bus')) };
    await expect(installBoxService(refusing, facts)).rejects.toThrow(/has joined, but.*Failed to connect to bus/);
    expect(existsSync(join(linux.home, '.config/systemd/user/model-router-box.service'))).toBe(false);
  });
});

describe('the unit of systemd', () => {
  it('has quoted words and variables, and is not started again after a refusal', () => {
    const unit = formatSystemdUnit(facts);
    expect(unit).toContain(String.raw`ExecStart="${process.execPath}" "/opt/my \"apps\"/100%%/$$HOME/rtr.mjs" "join"`);
    expect(unit).toContain('Environment="ENGINE_URLS=http://10.0.0.5:8000,http://10.0.0.6:8000/%%20"');
    expect(unit).toContain('RestartPreventExitStatus=78');
  });

  it('is accepted by systemd', { tags: ['systemd'] }, async () => {
    const file = join(temporaryFolder(), 'model-router-box.service');
    writeFileSync(file, formatSystemdUnit(facts));
    const { stderr } = await promisify(execFile)('systemd-analyze', ['verify', '--man=no', file]);
    expect(stderr.split('\n').filter((line) => line.includes('model-router-box'))).toEqual([]);
  });
});

describe('the agent of launchd', () => {
  const script = /<string>-c<\/string><string>(?<script>[^<]*)</.exec(formatLaunchdAgent(facts))?.groups?.['script'];
  const start = (program: string) => {
    const text = (script ?? '').replaceAll('&#10;', '\n').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
    return spawn('/bin/sh', ['-c', text, 'box', process.execPath, '-e', program], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  };

  it('ends with success after a refusal, and with failure after any other, so that only that is started again', async () => {
    expect(await once(start('process.exit(78)'), 'exit')).toEqual([0, null]);
    expect(await once(start('process.exit(1)'), 'exit')).toEqual([1, null]);
    expect(await once(start('process.exit(0)'), 'exit')).toEqual([0, null]);
  });

  it('waits for the box when it is stopped', async () => {
    const child = start(
      'process.on("SIGTERM", () => setTimeout(() => process.exit(0), 200)); setInterval(() => {}, 1000); console.log("ready")',
    );
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

describe('the program of a service', () => {
  it('is copied with its packages if npm may delete it, and again when it has changed', () => {
    const [home, data] = [temporaryFolder(), temporaryFolder()];
    const folder = join(home, '.npm/_npx/0123abcd/node_modules/@model-router/rtr');
    mkdirSync(folder, { recursive: true });
    const app = join(data, 'app');
    for (const content of ['one', 'two']) {
      writeFileSync(join(folder, 'rtr.mjs'), content);
      const copy = makeLasting(join(folder, 'rtr.mjs'), app);
      expect(copy).toBe(join(app, 'node_modules/@model-router/rtr/rtr.mjs'));
      expect(readFileSync(copy, 'utf8')).toBe(content);
    }
  });

  it('stays where it is if it lasts', () => {
    const data = temporaryFolder();
    expect(makeLasting('/usr/lib/node_modules/rtr/rtr.mjs', join(data, 'app'))).toBe(
      '/usr/lib/node_modules/rtr/rtr.mjs',
    );
    expect(existsSync(join(data, 'app'))).toBe(false);
  });
});
