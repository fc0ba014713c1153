import { Button, Fieldset, Group, NumberInput, Stack, Switch, Text } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import type { Settings } from '../../../contract/people.ts';
import { callApi } from '../../api/call-api.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { AlertRecipients } from '../../parts/alert-recipients.tsx';
import { CeilingFields } from '../../parts/ceiling-fields.tsx';
import { FormFailure } from '../../parts/failure.tsx';
import { LimitsFields } from '../../parts/limits-fields.tsx';
import { Loaded } from '../../parts/loaded.tsx';

export function SettingsForm() {
  const settings = useApi<Settings>('/settings');
  return (
    <Loaded query={settings} contentName="the settings">
      {(storedSettings) => <LoadedForm storedSettings={storedSettings} />}
    </Loaded>
  );
}

function LoadedForm({ storedSettings }: { storedSettings: Settings }) {
  const [settings, setSettings] = useState(storedSettings);
  const save = useChange((input: Settings) => callApi<Settings>('PATCH', '/settings', input), ['/settings']);
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    save.mutate(settings);
  };
  const changeSettings = (change: Partial<Settings>): void => setSettings((before) => ({ ...before, ...change }));
  const { error } = save;
  return (
    <form className="panel" onSubmit={onSubmit}>
      <Stack gap="sm" maw="34rem">
        <NumberInput
          label="Days until an invitation expires"
          min={1}
          max={90}
          allowDecimal={false}
          value={settings.invitationDays}
          error={error?.findProblem('invitationDays')}
          onChange={(value) => typeof value === 'number' && changeSettings({ invitationDays: value })}
        />
        <NumberInput
          label="Hours until an unused session expires"
          min={1}
          max={720}
          allowDecimal={false}
          value={settings.sessionHours}
          error={error?.findProblem('sessionHours')}
          onChange={(value) => typeof value === 'number' && changeSettings({ sessionHours: value })}
        />
        <Switch
          label="Members may create personal keys"
          checked={settings.membersMakeKeys}
          onChange={({ currentTarget }) => changeSettings({ membersMakeKeys: currentTarget.checked })}
        />
        <Switch
          label="People with a password need a second factor"
          checked={settings.requireSecondFactor}
          onChange={({ currentTarget }) => changeSettings({ requireSecondFactor: currentTarget.checked })}
        />
        <NumberInput
          label="Days for which the audit trail is kept"
          min={30}
          max={3_650}
          allowDecimal={false}
          value={settings.auditDays}
          error={error?.findProblem('auditDays')}
          onChange={(value) => typeof value === 'number' && changeSettings({ auditDays: value })}
        />
        <AlertRecipients
          value={settings.alertEmails.router}
          problem={error?.findProblem('alertEmails')}
          onChange={(router) => changeSettings({ alertEmails: { router } })}
        />
        <Fieldset legend="What new members begin with">
          <Stack gap="sm">
            <LimitsFields
              value={settings.newMembers.limits}
              onChange={(limits) => changeSettings({ newMembers: { ...settings.newMembers, limits } })}
            />
            <CeilingFields
              value={settings.newMembers.ceiling}
              modelsProblem={error?.findProblem('newMembers.ceiling.models')}
              onChange={(ceiling) => changeSettings({ newMembers: { ...settings.newMembers, ceiling } })}
            />
          </Stack>
        </Fieldset>
        <FormFailure
          title="The settings were not changed"
          error={error}
          inputs={['invitationDays', 'sessionHours', 'auditDays', 'alertEmails', 'newMembers.ceiling.models']}
        />
        {save.isSuccess ? (
          <Text size="sm" role="status">
            Saved.
          </Text>
        ) : null}
        <Group>
          <Button type="submit" loading={save.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
