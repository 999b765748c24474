namespace Cairn.Caching.AspNetCore.Tests.HybridOutput;

#pragma warning disable VSTHRD003 // The tests themselves complete the tasks that their endpoints wait for.

/// <summary>Responses in a hybrid cache over a store file. Processes share them, and they survive the processes.</summary>
public sealed class SharedOutputTests : IDisposable
{
    private readonly StoreDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Response_is_there_after_a_restart_with_its_headers()
    {
        string body;
        string? tag;
        await using (HybridShop shop = await StartAsync())
        {
            using HttpResponseMessage made = await shop.SendAsync(HttpMethod.Get, "/books/42");
            (body, tag) = (await made.Content.ReadAsStringAsync(), made.Headers.ETag?.ToString());
        }

        await using HybridShop restarted = await StartAsync();
        using HttpResponseMessage read = await restarted.SendAsync(HttpMethod.Get, "/books/42");
        using HttpResponseMessage found = await restarted.SendAsync(HttpMethod.Get, "/books/42");

        foreach (HttpResponseMessage response in new[] { read, found })
        {
            Assert.Equal((body, tag), (await response.Content.ReadAsStringAsync(), response.Headers.ETag?.ToString()));
            Assert.Equal(["Ueda", "Falk"], response.Headers.GetValues("X-Author"));
            Assert.Equal("text/plain; charset=utf-8", response.Content.Headers.ContentType?.ToString());
        }

        Assert.Equal(0, restarted.Made);
    }

    [Fact]
    public async Task Other_processes_serve_what_one_has_made_until_any_of_them_removes_it()
    {
        await using HybridShop shop = await StartAsync();
        using ChildProcess process = ChildProcess.Start(typeof(Program), "serve-hybrid", _directory.FilePath);
        using var other = new HttpClient { BaseAddress = new Uri(process.ReadLine()) };

        for (int round = 0; round < 20; round++)
        {
            string mine = await shop.GetAsync("/books/42");
            Assert.Equal(mine, await other.GetStringAsync(new Uri("/books/42", UriKind.Relative)));
            await shop.Cache.RemoveByTagAsync(round % 2 == 0 ? "books" : "book:42");

            string theirs = await other.GetStringAsync(new Uri("/books/42", UriKind.Relative));
            Assert.NotEqual(mine, theirs);
            Assert.Equal(theirs, await shop.GetAsync("/books/42"));
            await shop.Cache.RemoveByTagAsync("book:42");
        }

        Assert.Equal(0, process.Finish());
    }

    [Fact]
    public async Task Endpoint_runs_in_one_process_while_others_wait_for_its_response()
    {
        await using HybridShop shop = await StartAsync();
        using ChildProcess process = ChildProcess.Start(typeof(Program), "serve-hybrid", _directory.FilePath);
        using var other = new HttpClient { BaseAddress = new Uri(process.ReadLine()) };
        var mayEnd = new TaskCompletionSource();
        shop.Gate = _ => mayEnd.Task;

        Task<string> mine = shop.GetAsync("/gated");
        while (shop.Made == 0)
        {
            await Task.Yield();
        }

        Task<string>[] theirs = [.. Enumerable.Range(0, 50).Select(_ => other.GetStringAsync(new Uri("/gated", UriKind.Relative)))];
        Assert.NotSame(theirs[0], await Task.WhenAny(theirs[0], other.GetStringAsync(new Uri("/books/1", UriKind.Relative))));
        mayEnd.SetResult();

        string response = await mine;
        Assert.All(await Task.WhenAll(theirs), answer => Assert.Equal(response, answer));
        Assert.Equal(1, shop.Made);
        Assert.Equal(0, process.Finish());
    }

    private Task<HybridShop> StartAsync() => HybridShopRoles.StartAsync(_directory.FilePath);
}
