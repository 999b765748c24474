using Cairn.Dashboard.Tests.Browsing;
using Cairn.Dashboard.Tests.Serving;
using Microsoft.Playwright;
using static Microsoft.Playwright.Assertions;

namespace Cairn.Dashboard.Tests;

/// <summary>Finding keys, showing values, and removing them.</summary>
[Collection(Browser.Collection)]
public sealed class KeyViewTests(Browser browser)
{
    [RequiresToolFact("chromium")]
    public async Task Search_finds_parts_of_keys_and_patterns_and_continues_on_request()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        for (int i = 0; i < 260; i++)
        {
            server.Send("SET", $"book:{i}", "Dune");
        }

        server.Send("SET", "author:9", "Lem");
        await using WatchedPage page = await OpenKeysAsync(server);

        await SearchAsync(page, "thor");
        await Expect(page.Page.Locator("#found")).ToHaveTextAsync("1 key.");
        await SearchAsync(page, "book:1?");
        await Expect(page.Page.Locator("#found")).ToHaveTextAsync("10 keys.");
        await SearchAsync(page, "nothing of that kind");
        await Expect(page.Page.Locator("#found")).ToHaveTextAsync("No key matches.");
        await Expect(page.Page.GetByText("Choose a key to look at its value.")).ToBeHiddenAsync();
        await SearchAsync(page, "");
        await page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "More keys" }).ClickAsync();
        await Expect(Rows(page).Nth(199)).ToBeVisibleAsync();
        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task Value_is_shown_as_what_it_is()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        server.Send("SET", "json", """{"title":"Dune","price":9.5,"isNew":false}""");
        server.Send("SET", "text", "two\nlines");
        server.Send(["SET"u8.ToArray(), "bytes"u8.ToArray(), [0, 1, 254, 255, (byte)'o', (byte)'k']]);
        server.Send("SET", "empty", "");
        server.Send("SET", "huge", new string('h', 1 << 20));
        server.Send("HSET", "hash", "user", "42");
        await using WatchedPage page = await OpenKeysAsync(server);
        ILocator panel = page.Page.Locator("#value-panel");

        await ChooseAsync(page, "json");
        await Expect(panel.Locator(".name").First).ToHaveTextAsync("\"title\"");
        await page.PictureAsync("keys-json-light-large");
        await page.Page.GetByRole(AriaRole.Tab, new PageGetByRoleOptions { Name = "Text" }).ClickAsync();
        await Expect(panel).ToHaveTextAsync("""{"title":"Dune","price":9.5,"isNew":false}""");

        await ChooseAsync(page, "text");
        Assert.Equal("two\nlines", await panel.Locator("pre").TextContentAsync());
        await ChooseAsync(page, "bytes");
        await Expect(panel).ToContainTextAsync("00 01 fe ff 6f 6b");
        await Expect(panel).ToContainTextAsync("····ok");
        await page.PictureAsync("keys-hex-light-large");
        await ChooseAsync(page, "empty");
        await Expect(panel).ToHaveTextAsync("The value is empty.");
        await ChooseAsync(page, "huge");
        await Expect(page.Page.Locator(".detail")).ToContainTextAsync("1,048,576 bytes, the first 262,144 shown");
        await ChooseAsync(page, "hash");
        await Expect(page.Page.Locator(".fields tbody tr")).ToHaveTextAsync("user42");
        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task Value_stands_beside_what_was_found_on_a_desk_and_below_it_on_a_phone()
    {
        string[] titles = ["Solaris", "Dune", "Ubik", "Kindred", "Roadside Picnic", "The Dispossessed", "Neuromancer", "Fahrenheit 451"];
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        for (int i = 0; i < titles.Length; i++)
        {
            server.Send("SET", $"book:4{i}", $$"""{"id":4{{i}},"title":"{{titles[i]}}","price":{{9 + i}}.5,"tags":["classic","sf"],"inStock":true}""", "EX", $"{600 * (i + 1)}");
        }

        server.Send("SET", "author:4", "Lem");
        await using WatchedPage page = await OpenKeysAsync(server);
        await page.Page.EmulateMediaAsync(new PageEmulateMediaOptions { ColorScheme = ColorScheme.Dark });
        await SearchAsync(page, "book:4?");
        await Expect(page.Page.Locator("#found")).ToHaveTextAsync("8 keys.");

        await ChooseAsync(page, "book:42");

        await Expect(page.Page.Locator("#value-panel .name").First).ToHaveTextAsync("\"id\"");
        await page.PictureAsync("keys-found-dark-large");
        LocatorBoundingBoxResult list = (await Rows(page).First.BoundingBoxAsync())!;
        LocatorBoundingBoxResult value = (await page.Page.Locator(".detail").BoundingBoxAsync())!;
        Assert.True(value.X > list.X + list.Width);
        await page.Page.SetViewportSizeAsync(360, 740);
        await page.AssertFitsAsync();
        await page.PictureAsync("keys-found-dark-small");
        LocatorBoundingBoxResult last = (await Rows(page).Last.BoundingBoxAsync())!;
        Assert.True((await page.Page.Locator(".detail").BoundingBoxAsync())!.Y > last.Y);
        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task Hostile_keys_and_values_are_shown_as_text()
    {
        const string Markup = "<img src=x onerror=alert(1)><script>alert(2)</script>";
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        server.Send("SET", $"{Markup}\u001b[31m\u202egnp\r\n", $"{Markup}\0\u202e");
        server.Send([.. ((byte[][])["SET"u8.ToArray(), new byte[60_000], "long"u8.ToArray()])]);
        server.Send("HSET", "hash", Markup, Markup);
        await using WatchedPage page = await OpenKeysAsync(server);

        await SearchAsync(page, "img");
        await Rows(page).Filter(new LocatorFilterOptions { HasText = "script" }).GetByRole(AriaRole.Button).ClickAsync();
        await Expect(page.Page.Locator(".key-title")).ToHaveTextAsync($@"{Markup}\u{{1B}}[31m\u{{202E}}gnp\u{{D}}\u{{A}}");
        await Expect(page.Page.Locator("#value-panel")).ToHaveTextAsync($@"{Markup}␀\u{{202E}}");
        await page.PictureAsync("keys-hostile-light-large");
        await SearchAsync(page, "hash");
        await ChooseAsync(page, "hash");
        await Expect(page.Page.Locator(".fields tbody tr")).ToHaveTextAsync(Markup + Markup);
        await page.Page.SetViewportSizeAsync(360, 740);
        await page.AssertFitsAsync();
        await SearchAsync(page, "");
        await Rows(page).Filter(new LocatorFilterOptions { HasText = @"\u{0}\u{0}" }).GetByRole(AriaRole.Button).ClickAsync();
        await Expect(page.Page.Locator("#value-panel")).ToHaveTextAsync("long");
        await page.AssertFitsAsync();

        Assert.Equal(0, await page.Page.Locator("main img, main script").CountAsync());
        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task Key_is_deleted_when_that_is_confirmed_and_not_when_it_is_not()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        server.Send("SET", "book:1", "Dune");
        server.Send("SET", "book:2", "Emma");
        using CairnStore store = server.OpenStore();
        CairnCollection cache = store.DefaultCollection;
        await using WatchedPage page = await OpenKeysAsync(server);
        ILocator dialog = page.Page.GetByRole(AriaRole.Dialog);

        await ChooseAsync(page, "book:1");
        await page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "Delete…" }).ClickAsync();
        await Expect(dialog).ToContainTextAsync("book:1");
        await page.PictureAsync("keys-delete-light-large");
        await dialog.GetByRole(AriaRole.Button, new LocatorGetByRoleOptions { Name = "Keep it" }).ClickAsync();
        await Expect(dialog).ToBeHiddenAsync();
        Assert.True(cache.Contains("book:1"));

        await page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "Delete…" }).ClickAsync();
        await page.Page.Keyboard.PressAsync("Escape");
        await Expect(dialog).ToBeHiddenAsync();
        Assert.True(cache.Contains("book:1"));

        await page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "Delete…" }).ClickAsync();
        await dialog.GetByRole(AriaRole.Button, new LocatorGetByRoleOptions { Name = "Delete" }).ClickAsync();
        await Expect(dialog).ToBeHiddenAsync();
        await Expect(Rows(page)).ToHaveCountAsync(1);
        Assert.False(cache.Contains("book:1"));
        Assert.True(cache.Contains("book:2"));
        await Expect(page.Page.Locator("#announcer")).ToHaveTextAsync("Deleted book:1.");
        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task Key_that_was_written_since_it_was_looked_at_is_not_deleted()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        server.Send("SET", "book:1", "Dune");
        await using WatchedPage page = await OpenKeysAsync(server);
        page.ExpectedStatus = "409";
        await ChooseAsync(page, "book:1");
        server.Send("SET", "book:1", "Emma");

        await page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "Delete…" }).ClickAsync();
        await page.Page.GetByRole(AriaRole.Dialog).GetByRole(AriaRole.Button, new LocatorGetByRoleOptions { Name = "Delete" }).ClickAsync();

        await Expect(page.Page.GetByRole(AriaRole.Dialog)).ToContainTextAsync("the key has been written since");
        using CairnStore store = server.OpenStore();
        Assert.Equal("Emma", store.DefaultCollection.GetString("book:1"));
    }

    [RequiresToolFact("chromium")]
    public async Task Everything_can_be_done_with_the_keyboard()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        server.Send("SET", "book:1", """{"a":1}""");
        server.Send("SET", "book:2", "2");
        await using WatchedPage page = await browser.OpenAsync();
        await page.GoAsync(server.Address);
        await Expect(page.Page.Locator("nav a").First).ToBeVisibleAsync();

        await page.Page.Keyboard.PressAsync("Tab");
        Assert.Equal("Skip to content", await FocusedAsync(page));
        await page.Page.Keyboard.PressAsync("Enter");
        Assert.Equal("main", await page.Page.EvaluateAsync<string>("() => document.activeElement.id"));

        await page.Page.Locator("nav a", new PageLocatorOptions { HasText = "Keys" }).First.FocusAsync();
        await page.Page.Keyboard.PressAsync("Enter");
        await Expect(page.Heading).ToHaveTextAsync("Keys");
        Assert.Equal("Keys", await FocusedAsync(page)); // The heading has the focus, so a screen reader reads the choice.

        await page.Page.Keyboard.PressAsync("Tab");
        Assert.Equal("match", await page.Page.EvaluateAsync<string>("() => document.activeElement.id"));
        await page.Page.Keyboard.TypeAsync("book:1");
        await page.Page.Keyboard.PressAsync("Enter");
        await Expect(Rows(page)).ToHaveCountAsync(1);
        await page.Page.Keyboard.PressAsync("Tab"); // To the button,
        await page.Page.Keyboard.PressAsync("Tab"); // then to the key.
        Assert.Equal("book:1", await FocusedAsync(page));
        Assert.True(await page.Page.EvaluateAsync<bool>("() => getComputedStyle(document.activeElement).outlineStyle !== 'none'"));
        await page.Page.Keyboard.PressAsync("Enter");
        await Expect(page.Page.Locator("#value-panel")).ToBeVisibleAsync();
        await page.Page.Keyboard.PressAsync("Tab");
        Assert.Equal("JSON", await FocusedAsync(page));
        await page.Page.Keyboard.PressAsync("ArrowRight");
        Assert.Equal("Text", await FocusedAsync(page));
        await Expect(page.Page.Locator("#value-panel")).ToHaveTextAsync("""{"a":1}""");
        await page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "Delete…" }).FocusAsync();
        await page.Page.Keyboard.PressAsync("Enter");
        Assert.Equal("Keep it", await FocusedAsync(page));
        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task User_of_a_prefix_sees_its_own_keys_only()
    {
        await using ServedDashboard server = await ServedDashboard.StartWithUsersAsync();
        using CairnStore store = server.OpenStore();
        store.DefaultCollection.Set("book:1", "Dune"u8);
        store.DefaultCollection.Set("secret:1", "x"u8);
        await using WatchedPage page = await browser.OpenAsync();
        page.ExpectedStatus = "401";
        await page.GoAsync(server.Address);

        await LogInAsync(page, "reader", "wrong");
        await Expect(page.Page.GetByRole(AriaRole.Alert).Filter(new LocatorFilterOptions { HasText = "Wrong user or password." })).ToBeVisibleAsync();
        await page.PictureAsync("login-light-large");
        List<string> wrong = await LayoutWalk.FindMisplacedTextsAsync(page, LayoutWalk.Widths);
        Assert.True(wrong.Count == 0, string.Join("\n", wrong));
        await LogInAsync(page, "reader", "reader");
        await Expect(page.Page.Locator("nav a")).ToHaveTextAsync((string[])["Overview", "Commands", "Keys"]);
        await page.ShowAsync("Keys");
        await Expect(page.Page.Locator("#found")).ToHaveTextAsync("1 key.");
        await ChooseAsync(page, "book:1");
        await Expect(page.Page.Locator("#value-panel")).ToHaveTextAsync("Dune");
        await Expect(page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "Delete…" })).ToHaveCountAsync(0);

        await page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "Log out" }).ClickAsync();
        await LogInAsync(page, "admin", "admin");
        await page.ShowAsync("Keys");
        await Expect(page.Page.Locator("#found")).ToHaveTextAsync("2 keys.");
        page.AssertNoProblems();
    }

    internal static async Task LogInAsync(WatchedPage page, string user, string password)
    {
        await page.Page.GetByLabel("User").FillAsync(user);
        await page.Page.GetByLabel("Password").FillAsync(password);
        await page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "Log in" }).ClickAsync();
    }

    internal static async Task ChooseAsync(WatchedPage page, string key)
    {
        await Rows(page).Filter(new LocatorFilterOptions { Has = page.Page.GetByText(key, new PageGetByTextOptions { Exact = true }) }).GetByRole(AriaRole.Button).ClickAsync();
        await Expect(page.Page.Locator(".key-title")).ToHaveTextAsync(key);
    }

    private static ILocator Rows(WatchedPage page) => page.Page.Locator(".key-list tbody tr");

    private static Task<string> FocusedAsync(WatchedPage page) => page.Page.EvaluateAsync<string>("() => document.activeElement.textContent.trim()");

    private static async Task SearchAsync(WatchedPage page, string match)
    {
        await page.Page.GetByLabel("Search keys").FillAsync(match);
        await page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "Search" }).ClickAsync();
    }

    private async Task<WatchedPage> OpenKeysAsync(ServedDashboard server)
    {
        WatchedPage page = await browser.OpenAsync();
        await page.GoAsync(new Uri(server.Address, "#keys"));
        await Expect(page.Page.Locator("#found")).ToContainTextAsync("key");
        return page;
    }
}
