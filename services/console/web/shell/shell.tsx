import { AppShell, Burger, Group, NavLink } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { lazy, Suspense, useContext, useEffect } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import { queryClient, sessionKey } from '../api/query-client.ts';
import { useIsAdmin } from '../api/session-context.ts';
import { LiveContext, useLive } from '../api/use-live.ts';
import { Empty } from '../parts/empty.tsx';
import { Icon } from '../parts/icon.tsx';
import { Loading } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { AccountMenu } from './account-menu.tsx';
import { ColorSchemeMenu } from './color-scheme-menu.tsx';
import { Boundary } from './boundary.tsx';
import { Brand } from './frame.tsx';
import { LiveMark } from './live-mark.tsx';
import { isAt, places } from './places.ts';

const Account = lazy(() => import('../pages/account.tsx').then(({ Account }) => ({ default: Account })));

/** The frame of all pages: menu, live connection, and the page itself. */
export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure();
  const [location] = useLocation();
  const isAdmin = useIsAdmin();
  const store = useContext(LiveContext);
  const { connection } = useLive();
  useEffect(store.run, [store]);
  useEffect(close, [close, location]);
  useEffect(() => {
    // It may be lost because the session has ended.
    if (connection === 'lost') void queryClient.invalidateQueries({ queryKey: sessionKey });
  }, [connection]);
  const shown = places.filter(({ adminsOnly }) => !adminsOnly || isAdmin);
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
        {shown.map((place) => {
          const { path, name, icon, preload } = place;
          const isHere = isAt(place, location);
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
              onMouseEnter={preload}
              onFocus={preload}
            />
          );
        })}
      </AppShell.Navbar>
      <AppShell.Main id="page">
        <div style={{ maxWidth: '80rem', marginInline: 'auto' }}>
          <Boundary key={location}>
            <Suspense fallback={<Loading what="the page" />}>
              <Switch>
                {shown.map(({ path, Page }) => (
                  <Route key={path} path={path === '/' ? '/' : `${path}/*?`} component={Page} />
                ))}
                <Route path="/account" component={Account} />
                <Route>
                  <Page title="No such page">
                    <section className="panel">
                      <Empty title="There is nothing at this address">
                        <Link href="/">Go to the overview</Link>
                      </Empty>
                    </section>
                  </Page>
                </Route>
              </Switch>
            </Suspense>
          </Boundary>
        </div>
      </AppShell.Main>
    </AppShell>
  );
}
