// @module-tag chromium
import { describe, expect, it } from 'vitest';
import { AdminClient } from '../../helpers/console/admin-client.ts';
import { phone } from '../../helpers/console/console-page.ts';
import { choose, pressAndConfirm } from '../../helpers/console/page-actions.ts';
import { expectNoViolation } from '../../helpers/console/page-checks.ts';
import { shareConsole } from '../../helpers/console/console-with-ada.ts';
import { openAs, openPageAs } from '../../helpers/console/open-as.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { until } from '../../helpers/until.ts';

describe('an administrator with programs', () => {
  const here = shareConsole();

  it('makes a token, which is shown once and works, and revokes it', async () => {
    const name = uniqueName('ci');
    const { page } = await openPageAs(here.ada, '/account');
    await page.getByRole('button', { name: 'New token' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByRole('button', { name: 'Create' }).click();
    const raw = await dialog.getByLabel('token', { exact: true }).innerText();
    const client = new AdminClient(here.cluster.url, raw.trim());
    expect((await client.get('/users')).status).toBe(200);
    await expectNoViolation(page);
    // It is shown only here: no key closes it by mistake.
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('row', { name }).getByText('read').waitFor();
    await until(async () => expect(await page.content()).not.toContain(raw.trim()));
    await pressAndConfirm(page, `Revoke ${name}`, 'Revoke');
    await until(async () => expect(await page.getByRole('dialog').count()).toBe(0));
    expect((await client.get('/users')).status).toBe(401);
  });

  it('finds in the audit trail what somebody did, and saves it as a file', async () => {
    const { client: ada } = here.ada;
    await ada.post('/teams', { name: uniqueName('Blue') });
    await ada.patch('/settings', { membersMakeKeys: (await ada.get('/settings')).body.membersMakeKeys });
    const { page } = await openPageAs(here.ada, '/admin/audit');
    const changes = page.getByRole('row', { name: /settings\.change/ });
    await changes.first().waitFor();
    await choose(page, 'Action', 'Teams');
    await page.getByRole('row', { name: 'team.create' }).first().waitFor();
    await until(async () => expect(await changes.count()).toBe(0));
    const saved = page.waitForEvent('download');
    await page.getByRole('link', { name: 'CSV' }).click();
    expect((await saved).suggestedFilename()).toBe('audit.csv');
    await expectNoViolation(page);
    const { page: small } = await openPageAs(here.ada, '/admin/audit', { look: phone });
    await small.getByText('team.create').first().waitFor();
    await expectNoViolation(small);
  });

  it('reads what the Admin API does, from this router alone', async () => {
    const { page } = await openAs(here.ada);
    await page.goto('/api/admin/v1/docs');
    await page.getByText('Makes a team without members.').first().waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});
