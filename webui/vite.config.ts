// Build of the dashboard: plain TSX through oxc, hashed assets, nothing inlined (the policy forbids data: URLs).
import { defineConfig } from 'vitest/config';

const target = process.env.SAMOVAR_DEV_SERVER ?? 'https://127.0.0.1:8443';

export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  css: { modules: { generateScopedName: 's[hash:base64:5]' } },
  build: {
    target: 'es2022',
    outDir: 'dist',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // One file for what nearly every page needs: it compresses better than a dozen small ones.
        codeSplitting: {
          groups: [
            { name: 'core', test: /node_modules\/@?preact|src\/lib\/(?!api-|types-|align|series|uploads|upload-memory|rate|tus|password|zones|download)|src\/messages\/en\.ts|src\/ui\/(?!plot|Chart|look|Field\.tsx|useSecondsUntil|useAction|useFilled|useCountdown|work|TrayList|PersonPanel|PasswordField|Copy|.*Dialog\.tsx)/ },
            { name: 'forms', test: /src\/ui\/(Field\.tsx|useFilled|useAction)/, includeDependenciesRecursively: false },
            // Pages that are used together share one file each.
            { name: 'access', test: /src\/(messages\/en-access|routes\/(users|tokens|sessions|audit|settings|account)\/[\w-]+\.tsx?$)/, includeDependenciesRecursively: false },
            { name: 'data', test: /src\/routes\/datasets?\/(?!Access)[\w-]+\.tsx?$/, includeDependenciesRecursively: false },
            { name: 'models', test: /src\/(lib\/api-models|messages\/en-models|routes\/models\/(?!ModelsPage)|routes\/model\/Bar)/ },
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(['/api', '/ca.crt', '/healthz', '/readyz'].map((p) => [p, { target, secure: false }])),
  },
  test: { environment: 'happy-dom', include: ['test/**/*.test.{ts,tsx}'], setupFiles: ['test/setup.ts'], testTimeout: 60_000 },
});
