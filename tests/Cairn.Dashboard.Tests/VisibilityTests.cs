using Cairn.Dashboard.Tests.Browsing;
using Cairn.Dashboard.Tests.Serving;
using Microsoft.Playwright;
using static Microsoft.Playwright.Assertions;

namespace Cairn.Dashboard.Tests;

/// <summary>No control acts on something that the page does not show any more.</summary>
[Collection(Browser.Collection)]
public sealed class VisibilityTests(Browser browser)
{
    [RequiresToolFact("chromium")]
    public async Task Value_is_shown_as_long_as_the_search_shows_its_key()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        server.Send("SET", "book:1", "Dune");
        server.Send("SET", "author:1", "Lem");
        await using WatchedPage page = await OpenKeysAsync(server);
        await KeyViewTests.ChooseAsync(page, "book:1");

        await SearchAsync(page, "book", "1 key.");
        await Expect(page.Page.Locator(".key-title")).ToHaveTextAsync("book:1");
        await Expect(page.Page.Locator("tr.chosen")).ToContainTextAsync("book:1");
        await SearchAsync(page, "author", "1 key.");

        await Expect(page.Page.Locator(".key-title")).ToHaveCountAsync(0);
        await Expect(Delete(page)).ToHaveCountAsync(0);
        await Expect(page.Page.GetByText("Choose a key to look at its value.")).ToBeVisibleAsync();
        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task Value_goes_with_its_collection()
    {
        using var directory = new StoreDirectory();
        using CairnStore store = CairnStore.Open(directory.Options);
        store.DefaultCollection.Set("book:1", "Dune"u8);
        store.Collection("stock").Set("book:1", "12"u8);
        await using StoreDashboard dashboard = await StoreDashboard.StartAsync(store);
        await using WatchedPage page = await browser.OpenAsync();
        await page.GoAsync(dashboard.Address);
        await page.ShowAsync("Keys");
        await KeyViewTests.ChooseAsync(page, "book:1");
        await Expect(page.Page.Locator("#value-panel")).ToHaveTextAsync("Dune");

        await page.Page.GetByLabel("Collection").SelectOptionAsync("stock");

        await Expect(page.Page.Locator(".key-title")).ToHaveCountAsync(0); // The key has the same name, but its entry is another one.
        await KeyViewTests.ChooseAsync(page, "book:1");
        await Expect(page.Page.Locator("#value-panel")).ToHaveTextAsync("12");
        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task Value_that_arrives_late_does_not_take_the_place_of_a_later_one()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        server.Send("SET", "slow", "Dune");
        server.Send("SET", "quick", "Lem");
        await using WatchedPage page = await OpenKeysAsync(server);
        using var asked = new SemaphoreSlim(0);
        using var release = new SemaphoreSlim(0);
        await page.Page.RouteAsync("**/api/value", async route =>
        {
            if (route.Request.PostData!.Contains(ServedDashboard.Id("slow"), StringComparison.Ordinal))
            {
                asked.Release();
                await release.WaitAsync();
            }

            await route.ContinueAsync();
        });
        await Rows(page).Filter(new LocatorFilterOptions { HasText = "slow" }).GetByRole(AriaRole.Button).ClickAsync();
        await asked.WaitAsync();
        await KeyViewTests.ChooseAsync(page, "quick");

        await page.Page.RunAndWaitForResponseAsync(
            () => { release.Release(); return Task.CompletedTask; }, response => response.Url.EndsWith("/api/value", StringComparison.Ordinal));

        await page.Page.EvaluateAsync("() => new Promise(requestAnimationFrame)");
        await Expect(page.Page.Locator(".key-title")).ToHaveTextAsync("quick");
        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task Dialog_closes_when_the_view_changes()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        server.Send("SET", "book:1", "Dune");
        await using WatchedPage page = await browser.OpenAsync();
        await page.GoAsync(server.Address);
        await page.ShowAsync("Keys");
        await KeyViewTests.ChooseAsync(page, "book:1");
        await Delete(page).ClickAsync();
        await Expect(page.Page.GetByRole(AriaRole.Dialog)).ToBeVisibleAsync();

        await page.Page.GoBackAsync();

        await Expect(page.Heading).ToHaveTextAsync("Overview");
        await Expect(page.Page.Locator("dialog")).ToHaveCountAsync(0);
        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task Nothing_of_an_ended_session_stays()
    {
        await using ServedDashboard server = await ServedDashboard.StartWithUsersAsync();
        using CairnStore store = server.OpenStore();
        store.DefaultCollection.Set("book:1", "Dune"u8);
        await using WatchedPage page = await browser.OpenAsync();
        page.ExpectedStatus = "401";
        await page.GoAsync(new Uri(server.Address, "#keys"));
        await KeyViewTests.LogInAsync(page, "admin", "admin");
        await KeyViewTests.ChooseAsync(page, "book:1");
        await Delete(page).ClickAsync();
        await Expect(page.Page.GetByRole(AriaRole.Dialog)).ToBeVisibleAsync();

        await page.Page.Context.ClearCookiesAsync();

        await Expect(page.Page.GetByRole(AriaRole.Heading, new PageGetByRoleOptions { Name = "Log in" })).ToBeVisibleAsync();
        await Expect(page.Page.Locator("dialog, .key-title")).ToHaveCountAsync(0);
        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task Link_to_a_key_lists_the_key_that_it_shows()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        server.SetAll(Enumerable.Range(0, 2_000).Select(i => $"book:{i}"));
        await using WatchedPage page = await browser.OpenAsync();

        foreach (string key in (string[])["book:1", "book:777", "book:1999"])
        {
            await page.GoAsync(new Uri(server.Address, $"?{key[5..]}#keys?{ServedDashboard.Id(key)}"));

            await Expect(page.Page.Locator(".key-title")).ToHaveTextAsync(key);
            await Expect(page.Page.Locator("tr.chosen")).ToContainTextAsync(key);
        }

        page.AssertNoProblems();
    }

    private static ILocator Rows(WatchedPage page) => page.Page.Locator(".key-list tbody tr");

    private static ILocator Delete(WatchedPage page) => page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "Delete…" });

    private static async Task SearchAsync(WatchedPage page, string match, string found)
    {
        await page.Page.GetByLabel("Search keys").FillAsync(match);
        await Expect(page.Page.Locator("#found")).ToHaveTextAsync(found);
    }

    private async Task<WatchedPage> OpenKeysAsync(ServedDashboard server)
    {
        WatchedPage page = await browser.OpenAsync();
        await page.GoAsync(new Uri(server.Address, "#keys"));
        await Expect(page.Page.Locator("#found")).ToContainTextAsync("key");
        return page;
    }
}
