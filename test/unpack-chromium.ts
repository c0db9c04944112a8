import chromium from '@sparticuz/chromium'

// Into the folder that TMPDIR names, and for AWS_LAMBDA_JS_RUNTIME with the libraries that it needs: test/browser.ts sets both.
await chromium.executablePath()
