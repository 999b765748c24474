using System.Collections.Concurrent;
using Microsoft.Playwright;

namespace Cairn.Dashboard.Tests.Browsing;

/// <summary>A page and its problems: errors, violations of its policy, requests to other servers, dialogs of scripts.</summary>
internal sealed class WatchedPage : IAsyncDisposable
{
    private static readonly bool s_isPictured = Environment.GetEnvironmentVariable("CAIRN_PICTURES") == "1";

    private readonly ConcurrentQueue<string> _problems = new();
    private string _origin = "";

    public WatchedPage(IPage page)
    {
        Page = page;
        page.Console += (_, message) =>
        {
            if (message.Type is "error" or "warning" && !IsExpected(message.Text))
            {
                _problems.Enqueue($"{message.Type}: {message.Text}");
            }
        };
        page.PageError += (_, error) => _problems.Enqueue($"failed: {error}");
        page.Request += (_, request) =>
        {
            if (!request.Url.StartsWith(_origin, StringComparison.Ordinal))
            {
                _problems.Enqueue($"asked for {request.Url}");
            }
        };
        page.Dialog += (_, dialog) =>
        {
            _problems.Enqueue($"said: {dialog.Message}");
            _ = dialog.DismissAsync();
        };
    }

    public IPage Page { get; }

    /// <summary>Gets or sets the status, such as 401 or 404, that the test expects and that the browser reports as an error.</summary>
    public string? ExpectedStatus { get; set; }

    /// <summary>Gets or sets the browser's message about requests that fail because the test has ended their server.</summary>
    public string? ExpectedError { get; set; }

    public ILocator Heading => Page.Locator("h1");

    public async Task GoAsync(Uri address)
    {
        _origin = address.GetLeftPart(UriPartial.Authority);
        await Page.GotoAsync(address.ToString());
    }

    /// <summary>Shows a view, as its link in the menu does.</summary>
    public Task ShowAsync(string title) => Page.Locator("nav").GetByRole(AriaRole.Link, new LocatorGetByRoleOptions { Name = title, Exact = true }).ClickAsync();

    /// <summary>Checks that the page had no problems so far.</summary>
    public void AssertNoProblems() => Assert.Empty(_problems);

    /// <summary>Checks that no text is cut, exceeds its card or overlaps another, and that no part of the page is beyond its right edge.</summary>
    public async Task AssertFitsAsync()
    {
        string[] wrong = await FindMisplacedTextsAsync();
        Assert.True(wrong.Length == 0, string.Join("\n", wrong));
    }

    /// <summary>Returns texts that are cut, exceed their card or overlap another, each with the width of the window and the view.</summary>
    public async Task<string[]> FindMisplacedTextsAsync()
    {
        string place = $"{Page.ViewportSize!.Width} px, {await Page.TitleAsync()}";
        return [.. (await Page.EvaluateAsync<string[]>(LayoutCheck.Script)).Select(wrong => $"{place}: {wrong}")];
    }

    /// <summary>With CAIRN_PICTURES=1, saves a screenshot to artifacts/dashboard for people to examine.</summary>
    public async Task PictureAsync(string name)
    {
        if (!s_isPictured)
        {
            return;
        }

        string directory = RepositoryFile.At("artifacts", "dashboard");
        Directory.CreateDirectory(directory);

        // The test's folder has an unusual name, which differs in each run.
        await Page.EvaluateAsync(
            """
            () => {
              const subject = document.getElementById('subject');
              subject.textContent = subject.textContent.replace(/^\/.*\/(cairn-[0-9a-f]{32}\/)/, '/var/lib/cairn/');
            }
            """);
        await Page.ScreenshotAsync(new PageScreenshotOptions { Path = Path.Combine(directory, $"{name}.png"), Animations = ScreenshotAnimations.Disabled });
    }

    public async ValueTask DisposeAsync() => await Page.Context.DisposeAsync();

    private bool IsExpected(string text) =>
        (ExpectedStatus is { } status && text.Contains($"status of {status}", StringComparison.Ordinal))
        || (ExpectedError is { } error && text.Contains(error, StringComparison.Ordinal));
}
