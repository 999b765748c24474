using Microsoft.Playwright;

namespace Cairn.Dashboard.Tests.Browsing;

/// <summary>The system's Chromium without a window. All tests of pages share one browser.</summary>
public sealed class Browser : IAsyncLifetime
{
    /// <summary>The collection of the tests that share the browser.</summary>
    public const string Collection = "pages";

    private const string Executable = "chromium";

    // A bound that must not fail on a busy machine. It claims nothing about the speed.
    private const int PatienceMs = 60_000;

    private IPlaywright? _playwright;
    private IBrowser? _browser;

    public Task InitializeAsync() => Task.CompletedTask;

    public async Task DisposeAsync()
    {
        if (_browser is not null)
        {
            await _browser.DisposeAsync();
        }

        _playwright?.Dispose();
    }

    /// <summary>Opens a page as for a new visitor: without cookies or stored data.</summary>
    internal async Task<WatchedPage> OpenAsync(int width = 1280, int height = 900)
    {
        Assertions.SetDefaultExpectTimeout(PatienceMs);
        _playwright ??= await Playwright.CreateAsync();
        _browser ??= await _playwright.Chromium.LaunchAsync(new BrowserTypeLaunchOptions
        {
            ExecutablePath = (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator)
                .Select(directory => Path.Combine(directory, Executable)).First(File.Exists),
            Args = ["--no-sandbox", "--disable-gpu"],
        });
        IBrowserContext context = await _browser.NewContextAsync(new BrowserNewContextOptions
        {
            ViewportSize = new ViewportSize { Width = width, Height = height },
            ColorScheme = ColorScheme.Light,
            ReducedMotion = ReducedMotion.Reduce,
        });
        context.SetDefaultTimeout(PatienceMs);
        return new WatchedPage(await context.NewPageAsync());
    }
}

/// <summary>The tests that share the browser.</summary>
[CollectionDefinition(Browser.Collection)]
public sealed class BrowserCollection : ICollectionFixture<Browser>;
