import { MantineProvider } from '@mantine/core';
import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { Route, Switch } from 'wouter';
import { fetchSession, sessionKey, SessionContext } from './api/session.ts';
import { queryClient } from './api/use-api.ts';
import { Failure } from './parts/failure.tsx';
import { Loading } from './parts/loaded.tsx';
import { Frame } from './shell/frame.tsx';
import { Shell } from './shell/shell.tsx';
import { cssVariables, theme } from './theme.ts';

const LinkPage = lazy(() => import('./pages/link-page.tsx').then(({ LinkPage }) => ({ default: LinkPage })));
const SignIn = lazy(() => import('./pages/sign-in.tsx').then(({ SignIn }) => ({ default: SignIn })));

/** The console. @param nonce for style elements that are made at run time */
export function App({ nonce }: { nonce: string }) {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <Suspense
          fallback={
            <Frame>
              <Loading what="the page" />
            </Frame>
          }
        >
          <Switch>
            <Route path="/link/:token">{({ token }) => <LinkPage token={token} />}</Route>
            <Route>
              <SignedIn />
            </Route>
          </Switch>
        </Suspense>
      </QueryClientProvider>
    </MantineProvider>
  );
}

/** The pages; without a session the sign-in, which then leads to the requested page. */
function SignedIn() {
  const {
    data: session,
    error,
    refetch,
  } = useQuery({ queryKey: sessionKey, queryFn: fetchSession, staleTime: 60_000 });
  if (session) {
    return (
      <SessionContext value={session}>
        <Shell />
      </SessionContext>
    );
  }
  if (session === null) return <SignIn />;
  return (
    <Frame>
      {error ? (
        <Failure title="The console could not be loaded" error={error} onRetry={() => void refetch()} />
      ) : (
        <Loading what="the console" />
      )}
    </Frame>
  );
}
