using Cairn.Dashboard.Tests.Browsing;
using Cairn.Dashboard.Tests.Serving;
using Microsoft.Playwright;
using static Microsoft.Playwright.Assertions;

namespace Cairn.Dashboard.Tests;

/// <summary>The view of top keys lists a key only if the sample distinguishes it from noise.</summary>
[Collection(Browser.Collection)]
public sealed class TopKeysViewTests(Browser browser)
{
    [RequiresToolFact("chromium")]
    public async Task Million_keys_set_once_each_are_not_listed()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        await using WatchedPage page = await OpenAsync(server);

        server.SetAll(Enumerable.Range(0, 1_000_000).Select(i => $"book:{i}"));

        await Expect(page.Page.GetByText("No key stands out")).ToBeVisibleAsync();
        await Expect(page.Page.Locator("td.key, th.key")).ToHaveCountAsync(0);
        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task Popular_keys_are_listed_with_their_share_of_all_requests()
    {
        const int Keys = 10_000;
        double[] sums = new double[Keys];
        for (int i = 0; i < Keys; i++)
        {
            sums[i] = (i == 0 ? 0 : sums[i - 1]) + (1.0 / (i + 1)); // Zipf's law with an exponent of 1.
        }

        var random = new Random(3);
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        await using WatchedPage page = await OpenAsync(server);

        server.SetAll(Enumerable.Range(0, 200_000).Select(_ => $"book:{1 + Math.Abs(~Array.BinarySearch(sums, random.NextDouble() * sums[^1]))}"));

        // The page may have been refreshed while the requests were on their way, with the first few keys.
        await Expect(page.Page.Locator("th.key").Nth(9)).ToBeVisibleAsync();
        await page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "Pause" }).ClickAsync();
        string[] keys = [.. await page.Page.Locator("th.key").AllTextContentsAsync()];
        Assert.Equal(["book:1", "book:2", "book:3", "book:4"], keys.Take(4));
        Assert.InRange(keys.Length, 10, 26); // The 26th has 1 / 256 of the requests.
        double share = double.Parse(
            (await page.Page.Locator("tbody tr").First.Locator("[data-label=Share]").TextContentAsync())!.Replace(" %", "", StringComparison.Ordinal),
            System.Globalization.CultureInfo.InvariantCulture);
        Assert.InRange(share, 9, 11.5); // 10.2 % of all requests, and not of the listed ones.
        page.AssertNoProblems();
    }

    private async Task<WatchedPage> OpenAsync(ServedDashboard server)
    {
        WatchedPage page = await browser.OpenAsync();
        await page.GoAsync(new Uri(server.Address, "#hot"));
        await Expect(page.Page.GetByText("Nothing has been asked for yet")).ToBeVisibleAsync(); // From here on the server samples keys.
        return page;
    }
}
