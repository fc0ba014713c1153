import { expect, it } from 'vitest';
import { findBrowser } from '#services/rtr/client/lib/open-browser.mjs';

const linux = { platform: 'linux', isWsl: false } as const;
const rundll = (name: string) => [name, 'url.dll,FileProtocolHandler'];

it.each([
  ['macOS', { platform: 'darwin', isWsl: false, variables: {} }, ['open']],
  ['Windows', { platform: 'win32', isWsl: false, variables: {} }, rundll('rundll32')],
  ['Linux with X11', { ...linux, variables: { DISPLAY: ':0' } }, ['xdg-open']],
  ['Linux with Wayland', { ...linux, variables: { WAYLAND_DISPLAY: 'wayland-0' } }, ['xdg-open']],
  ['Linux inside Windows', { ...linux, isWsl: true, variables: { PATH: '/bin' } }, rundll('rundll32.exe')],
  ['Linux inside Windows with wslu', { ...linux, isWsl: true, variables: { PATH: '/bin:/usr/bin' } }, ['wslview']],
  ['Linux without a display', { ...linux, variables: {} }, undefined],
  ['macOS over SSH', { platform: 'darwin', isWsl: false, variables: { SSH_CONNECTION: '::1 1 ::1 22' } }, undefined],
  ['Linux over SSH with X11', { ...linux, variables: { DISPLAY: ':10', SSH_TTY: '/dev/pts/1' } }, undefined],
] as const)('rtr login on %s opens the right browser, or none', (_, machine, opener) => {
  expect(findBrowser({ ...machine, exists: (file) => file === '/usr/bin/wslview' })).toEqual(opener);
});
