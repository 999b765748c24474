using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Cairn.Dashboard.Tests.Browsing;
using Microsoft.Playwright;
using static Microsoft.Playwright.Assertions;

namespace Cairn.Dashboard.Tests;

/// <summary>A page whose server is gone says so, shows the age of its figures, and recovers without help.</summary>
[Collection(Browser.Collection)]
public sealed class ReachabilityTests(Browser browser)
{
    // The tool of the same build configuration and runtime as these tests.
    private static readonly string s_tool = RepositoryFile.At(
        ["src", "Cairn.Cli", "bin", .. Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory).Split(Path.DirectorySeparatorChar)[^2..], "Cairn.Cli.dll"]);

    [RequiresToolFact("chromium")]
    public async Task Killed_server_is_reported_at_once_and_the_page_recovers_when_it_is_back()
    {
        using var directory = new StoreDirectory();
        int http = FreePorts.Take();
        int resp = FreePorts.Take();
        await using WatchedPage page = await browser.OpenAsync();
        page.ExpectedError = "net::ERR";
        ServerProgram server = Start(directory, http, resp);
        try
        {
            Send(resp, "SET book:1 Dune");
            await page.GoAsync(new Uri($"http://127.0.0.1:{http}/"));
            await Expect(State(page)).ToHaveTextAsync("Live");
            await Expect(page.Page.Locator(".tile .value").First).Not.ToHaveTextAsync("–");
            Assert.Equal(1, await OpacityAsync(page));

            server.Dispose();

            await Expect(State(page)).ToContainTextAsync("No answer since");
            await Expect(State(page)).ToContainTextAsync("figures are");
            await Expect(page.Page.GetByRole(AriaRole.Alert).Filter(new LocatorFilterOptions { HasText = "The server does not answer." })).ToBeVisibleAsync();
            await Expect(page.Page.GetByText("Ready", new PageGetByTextOptions { Exact = true })).ToHaveCountAsync(0);
            Assert.InRange(await OpacityAsync(page), 0.1, 0.7);
            await page.PictureAsync("lost-light-large");
            await page.Page.SetViewportSizeAsync(320, 740);
            await page.AssertFitsAsync();
            await page.PictureAsync("lost-light-small");

            server = Start(directory, http, resp);

            await Expect(State(page)).ToHaveTextAsync("Live");
            await Expect(page.Page.GetByText("Ready", new PageGetByTextOptions { Exact = true })).ToBeVisibleAsync();
            Assert.Equal(1, await OpacityAsync(page));

            // The new server would refuse the token of the killed one.
            Send(resp, "SET book:2 Emma");
            await page.ShowAsync("Keys");
            await Expect(page.Page.Locator(".key-list tbody tr")).Not.ToHaveCountAsync(0);
        }
        finally
        {
            server.Dispose();
        }

        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task Server_that_hangs_is_reported_like_one_that_is_gone()
    {
        using var directory = new StoreDirectory();
        int http = FreePorts.Take();
        using ServerProgram server = Start(directory, http, FreePorts.Take());
        await using WatchedPage page = await browser.OpenAsync();
        page.ExpectedError = "net::ERR";
        await page.GoAsync(new Uri($"http://127.0.0.1:{http}/"));
        await Expect(State(page)).ToHaveTextAsync("Live");

        ProcessSignals.Stop(server.Id);

        await Expect(State(page)).ToContainTextAsync("No answer since");
        ProcessSignals.Continue(server.Id);
        await Expect(State(page)).ToHaveTextAsync("Live");
        page.AssertNoProblems();
    }

    private static ILocator State(WatchedPage page) => page.Page.Locator("#state");

    private static Task<double> OpacityAsync(WatchedPage page) =>
        page.Page.Locator(".tile").First.EvaluateAsync<double>("tile => Number(getComputedStyle(tile).opacity)");

    private static ServerProgram Start(StoreDirectory directory, int http, int resp) => ServerProgram.Start(
        "dotnet",
        [
            "exec", s_tool, "serve", "--store", directory.FilePath, "--capacity", "16MiB",
            "--memcached", "off", "--resp", string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{resp}"),
            "--http", string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{http}"),
        ],
        "The dashboard is at", isOnError: true);

    private static void Send(int port, string command)
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { ReceiveTimeout = 60_000 };
        socket.Connect(IPAddress.Loopback, port);
        socket.Send(System.Text.Encoding.ASCII.GetBytes(command + "\r\n"));
        Assert.NotEqual(0, socket.Receive(new byte[64]));
    }
}
