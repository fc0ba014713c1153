import { AppShell, Burger, Group, NavLink, Text, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Suspense, useContext, useEffect } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import { sessionKey, useIsAdmin, useSession } from '../api/session.ts';
import { queryClient } from '../api/use-api.ts';
import { LiveContext, useLive } from '../api/live-store.ts';
import { DocsContext } from '../parts/docs-link.tsx';
import { EmptyPanel, Loading } from '../parts/loaded.tsx';
import { Icon } from '../parts/icon.tsx';
import { createLazyCode } from '../parts/lazy-code.tsx';
import { Page } from '../parts/page.tsx';
import { useTimeZone } from '../parts/use-time-zone.ts';
import { AccountMenu } from './account-menu.tsx';
import { ErrorBoundary } from './error-boundary.tsx';
import { ColorSchemeMenu } from './color-scheme-menu.tsx';
import { Brand } from './frame.tsx';
import { isPageAt, pages } from './pages.ts';

const { Code: Device } = createLazyCode(
  () => import('../pages/device.tsx'),
  ({ Device }) => Device,
);
const { Code: Account } = createLazyCode(
  () => import('../pages/account.tsx'),
  ({ Account }) => Account,
);

export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure();
  const [location] = useLocation();
  const isAdmin = useIsAdmin();
  // Everything on the page renders again when the time zone changes.
  const timeZone = useTimeZone();
  const store = useContext(LiveContext);
  const { connection } = useLive();
  useEffect(store.run, [store]);
  useEffect(close, [close, location]);
  useEffect(() => {
    // The session is checked, because its end is one reason for a lost connection.
    if (connection === 'lost') void queryClient.invalidateQueries({ queryKey: sessionKey });
  }, [connection]);
  const isInTeam = useSession().user.teams.length > 0;
  const visiblePages = pages.filter(
    ({ adminsOnly, teamsOnly }) => (!adminsOnly || isAdmin) && (!teamsOnly || isInTeam),
  );
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 208, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <a href="#page" className="skip-link">
        Skip to the page
      </a>
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={isOpen ? 'Close the menu' : 'Open the menu'}
              aria-expanded={isOpen}
            />
            <Brand />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <LiveMark />
            <ColorSchemeMenu />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        {visiblePages.map((entry) => {
          const { path, name, icon, preload } = entry;
          const isHere = isPageAt(entry, location);
          return (
            <NavLink
              key={path}
              component={Link}
              href={path}
              label={name}
              leftSection={<Icon name={icon} />}
              active={isHere}
              aria-current={isHere ? 'page' : undefined}
              onClick={close}
              onMouseEnter={() => void preload()}
              onFocus={() => void preload()}
            />
          );
        })}
      </AppShell.Navbar>
      <AppShell.Main id="page">
        <div style={{ maxWidth: '80rem', marginInline: 'auto' }}>
          <ErrorBoundary key={timeZone} url={location}>
            <Suspense fallback={<Loading contentName="the page" />}>
              <Switch>
                {visiblePages.map(({ path, docs, Page }) => (
                  <Route key={path} path={path === '/' ? '/' : `${path}/*?`}>
                    <DocsContext value={docs}>
                      <Page />
                    </DocsContext>
                  </Route>
                ))}
                <Route path="/account">
                  <DocsContext value="sign-in">
                    <Account />
                  </DocsContext>
                </Route>
                <Route path="/device" component={Device} />
                <Route>
                  <Page title="No such page">
                    <EmptyPanel title="There is nothing at this address">
                      <Link href="/">Go to the overview</Link>
                    </EmptyPanel>
                  </Page>
                </Route>
              </Switch>
            </Suspense>
          </ErrorBoundary>
        </div>
      </AppShell.Main>
    </AppShell>
  );
}

const connectionLabels = {
  connecting: ['Connecting', 'Connecting to the router for live data.'],
  live: ['Live', 'Everything here is up to date.'],
  lost: ['Offline', 'The connection to the router is lost. Trying again; what you see may be out of date.'],
} as const;

export function LiveMark() {
  const { connection } = useLive();
  const [word, sentence] = connectionLabels[connection];
  return (
    <Tooltip label={sentence} multiline maw="18rem">
      <Group gap={6} wrap="nowrap" role="status" tabIndex={0} aria-label={`${word}. ${sentence}`}>
        <span className="live-dot" data-connection={connection} aria-hidden="true" />
        <Text size="xs" c="dimmed" visibleFrom="xs">
          {word}
        </Text>
      </Group>
    </Tooltip>
  );
}
