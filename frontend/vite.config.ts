// How the page is built, and how it is developed against a running daemon:
//   ROOST_SOCKET=/run/roost/roost.sock npm run dev
// the kernel then says to the daemon who is looking (the account that runs Vite).
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

const socket = process.env['ROOST_SOCKET'] ?? '/run/roost/roost.sock';
const daemon = {
  '/v1': { target: { socketPath: socket, host: 'localhost', port: 80, protocol: 'http:' }, changeOrigin: true },
};

export default defineConfig({
  // Relative to <base href>, which the daemon writes: so the page works behind any prefix.
  base: './',
  plugins: [react()],
  css: { modules: { localsConvention: 'camelCaseOnly' } },
  build: {
    outDir: '../src/roost/page',
    emptyOutDir: true,
    target: 'es2022',
    manifest: 'manifest.json',
    sourcemap: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 600,
  },
  server: { proxy: daemon },
  preview: { proxy: daemon },
  test: { environment: 'node', include: ['tests/**/*.test.ts'] },
});
