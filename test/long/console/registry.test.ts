// @module-tag chromium
import { afterAll, describe, expect, it } from 'vitest';
import { phone, waitUntilLoaded } from '../../helpers/console/console-page.ts';
import { expectNoViolation } from '../../helpers/console/page-checks.ts';
import { shareConsole } from '../../helpers/console/console-with-ada.ts';
import { openAs, openPageAs } from '../../helpers/console/open-as.ts';
import { withRegistry } from '../../helpers/cluster/with-registry.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { until } from '../../helpers/until.ts';

const newText = (): string => `# ${uniqueName('Mine')}\nmodels:\n  fast: { targets: [{ model: demo }] }\n`;

describe('the page of the registry', () => {
  const here = shareConsole();

  afterAll(async () => {
    await here.ada.client.put('/registry', { text: 'models: {}', basedOn: await newest() });
  });

  /** The number of the newest version, 0 before there is any. */
  const newest = async (): Promise<number> => Number((await here.ada.client.get('/registry')).body.version);

  it('edits the names with its mistakes shown, keeps a history, compares, and reverts with one click', async () => {
    const { page } = await openAs(here.ada);
    const [first, last] = [newText(), await newest()];
    await page.goto('/');
    await page.getByRole('link', { name: 'Admin' }).click();
    await page.getByRole('tab', { name: 'Registry' }).click();
    await waitUntilLoaded(page);
    const field = page.getByLabel('Registry (YAML)');
    const save = page.getByRole('button', { name: 'Save' });
    expect(await save.isDisabled()).toBe(true);

    await field.fill('models:\n  fast:\n    targets: [{ model: demo, weight: -1 }]\nsign_in: {}\n');
    await save.click();
    const alert = page.getByRole('alert');
    await alert.getByText('2 problems').waitFor();
    await alert.getByText('models.fast.targets.0.weight').waitFor();
    await alert.getByText('targets: [{ model: demo, weight: -1 }]').waitFor();
    await expectNoViolation(page);
    await alert.getByRole('button', { name: 'Line 4' }).click();
    const selected = await page.evaluate(`(({ value, selectionStart, selectionEnd }) =>
      value.slice(selectionStart, selectionEnd))(document.activeElement)`);
    expect(selected).toBe('sign_in: {}');

    await field.fill(first);
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('No problems.').waitFor();
    await page.getByLabel('What has changed').fill('A name for everybody.');
    await save.click();
    await page.getByText(`Saved as version ${last + 1}.`).waitFor();
    const rowOf = (version: number) => page.getByRole('row', { name: new RegExp(`^${version}\\b`) });
    await rowOf(last + 1)
      .getByText('A name for everybody.')
      .waitFor();
    await until(async () => expect(await field.inputValue()).toBe(first));

    await field.fill(first.replace('fast', 'faster'));
    await page.getByRole('button', { name: 'Show changes' }).click();
    const changes = page.getByRole('group', { name: 'Changes' });
    expect(await changes.innerText()).toMatch(/− {3}fast: .*\n\+ {3}faster: /);
    await save.click();
    await page.getByText(`Saved as version ${last + 2}.`).waitFor();
    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByText('faster', { exact: true }).first().waitFor();

    await page.goto('/admin/registry');
    await page.getByRole('button', { name: `Compare version ${last + 1}` }).click();
    const comparison = page.getByRole('dialog').getByRole('group', { name: 'Changes' });
    expect(await comparison.innerText()).toMatch(/− {3}faster: .*\n\+ {3}fast: /);
    await expectNoViolation(page);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: `Revert to version ${last + 1}` }).click();
    await page.getByText(`Version ${last + 3} has the text of version ${last + 1} again.`).waitFor();
    await rowOf(last + 3)
      .getByText(`Reverted to version ${last + 1}`)
      .waitFor();
    await until(async () => expect(await field.inputValue()).toBe(first));

    await page.setViewportSize(phone);
    await waitUntilLoaded(page);
    await page.getByRole('list', { name: 'Versions' }).getByText('newest').waitFor();
    await expectNoViolation(page);
  });

  it('keeps what somebody has typed when another one stores a version meanwhile', async () => {
    const { page } = await openAs(here.ada);
    const { page: others } = await openAs(here.ada);
    const last = await newest();
    for (const each of [page, others]) {
      await each.goto('/admin/registry');
      await each.getByLabel('Registry (YAML)').waitFor();
    }
    const field = page.getByLabel('Registry (YAML)');
    const text = newText();
    await field.fill(text.replace('fast', 'mine'));
    await others.getByLabel('Registry (YAML)').fill(text.replace('fast', 'theirs'));
    await others.getByRole('button', { name: 'Save' }).click();
    await others.getByText(`Saved as version ${last + 1}.`).waitFor();

    const alert = page.getByRole('alert');
    await alert.getByText(`Version ${last + 1} was stored meanwhile`).waitFor();
    await until(async () => expect(await alert.getByRole('group').innerText()).toMatch(/− {3}theirs.*\n\+ {3}mine/));
    await until(async () => expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true));
    await alert.getByRole('button', { name: 'Keep my text' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(`Saved as version ${last + 2}.`).waitFor();
    await until(async () => expect(await field.inputValue()).toContain('mine'));
  });

  it('shows a file, and edits nothing of it', async () => {
    const node = await here.cluster.addIngress(withRegistry(newText()));
    const { page } = await openPageAs(here.ada, '/admin/registry', { origin: node.url });
    await page.getByText('The registry is a file').waitFor();
    expect(await page.getByRole('group', { name: 'registry' }).innerText()).toContain('"fast"');
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
    expect(await page.getByLabel('Registry (YAML)').count()).toBe(0);
    await expectNoViolation(page);
  });
});
