using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Caching.AspNetCore.Tests.HybridOutput;

#pragma warning disable VSTHRD003 // The tests themselves complete the tasks that their endpoints wait for.

/// <summary>Responses of endpoints in the hybrid cache, over real connections. "Early" means answered before routing, where that is possible.</summary>
public sealed class HybridOutputTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Response_is_made_once_and_then_served_with_the_headers_that_the_endpoint_set(bool isEarly)
    {
        await using HybridShop shop = await HybridShop.StartAsync(isEarly: isEarly);
        using HttpResponseMessage first = await shop.SendAsync(HttpMethod.Get, "/books/42");

        using HttpResponseMessage second = await shop.SendAsync(HttpMethod.Get, "/books/42");

        string body = await first.Content.ReadAsStringAsync();
        Assert.Equal(body, await second.Content.ReadAsStringAsync());
        Assert.Equal(1, shop.Made);
        Assert.Equal(HttpStatusCode.OK, second.StatusCode);
        Assert.Equal("text/plain; charset=utf-8", second.Content.Headers.ContentType?.ToString());
        Assert.Equal(body.Length, second.Content.Headers.ContentLength);
        Assert.Equal(["Ueda", "Falk"], second.Headers.GetValues("X-Author"));
        Assert.NotNull(second.Headers.ETag);
        Assert.Equal(first.Headers.ETag, second.Headers.ETag);
        Assert.Null(second.Headers.Age);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Headers_that_were_set_before_the_endpoint_are_those_of_the_request(bool isEarly)
    {
        await using HybridShop shop = await HybridShop.StartAsync(isEarly: isEarly);
        using HttpResponseMessage first = await shop.SendAsync(HttpMethod.Get, "/books/42");

        using HttpResponseMessage second = await shop.SendAsync(HttpMethod.Get, "/books/42");

        Assert.Equal(["1"], first.Headers.GetValues("X-Request"));
        Assert.Equal(["2"], second.Headers.GetValues("X-Request"));
        Assert.Equal(!isEarly, second.Headers.Contains("X-Behind"));
    }

    [Fact]
    public async Task Whole_query_makes_another_response_unless_parameters_are_named()
    {
        await using HybridShop all = await HybridShop.StartAsync(isEarly: true);
        await using HybridShop named = await HybridShop.StartAsync(books: output => output.VaryByQuery = ["lang"], isEarly: true);
        await using HybridShop none = await HybridShop.StartAsync(books: output => output.VaryByQuery = [], isEarly: true);
        string[] queries = ["", "?lang=de", "?lang=fr", "?lang=", "?lang=de&lang=fr", "?lang=de,fr", "?campaign=1", "?lang=de&campaign=1"];

        Assert.Equal(8, await DifferentAsync(all, queries));
        Assert.Equal(6, await DifferentAsync(named, queries));
        Assert.Equal(1, await DifferentAsync(none, queries));
        Assert.Equal(await named.GetAsync("/books/42?lang=de"), await named.GetAsync("/books/42?campaign=2&LANG=de"));
    }

    [Fact]
    public async Task Named_headers_make_another_response_and_others_do_not()
    {
        await using HybridShop shop = await HybridShop.StartAsync(books: output => output.VaryByHeader.Add("X-Currency"), isEarly: true);
        string[] different =
        [
            await shop.GetAsync("/books/42"),
            await shop.GetAsync("/books/42", "X-Currency", "EUR"),
            await shop.GetAsync("/books/42", "X-Currency", "GBP"),
            await shop.GetAsync("/books/42", "X-Currency", ""),
        ];

        Assert.Equal(different.Length, different.Distinct(StringComparer.Ordinal).Count());
        Assert.Equal(different[1], await shop.GetAsync("/books/42", "x-currency", "EUR"));
        Assert.Equal(different[0], await shop.GetAsync("/books/42", "X-Other", "EUR"));
    }

    [Fact]
    public async Task Each_host_name_has_a_response_of_its_own_unless_options_say_otherwise()
    {
        await using HybridShop shop = await HybridShop.StartAsync(isEarly: true);

        Assert.NotEqual(await shop.GetAsync("/hosted", "Host", "one.example"), await shop.GetAsync("/hosted", "Host", "two.example"));
        Assert.Equal(await shop.GetAsync("/hosted", "Host", "one.example"), await shop.GetAsync("/hosted", "Host", "one.example"));
        Assert.Equal(await shop.GetAsync("/books/1", "Host", "one.example"), await shop.GetAsync("/books/1", "Host", "two.example"));
    }

    [Fact]
    public async Task Endpoints_of_one_path_under_several_names_do_not_answer_for_each_other()
    {
        await using HybridShop shop = await HybridShop.StartAsync(isEarly: true);

        foreach (string host in new[] { "one.example", "two.example" })
        {
            string response = await shop.GetAsync("/named", "Host", host);
            Assert.StartsWith(host, response, StringComparison.Ordinal);
            Assert.Equal(response, await shop.GetAsync("/named", "Host", host));
        }
    }

    [Fact]
    public async Task Endpoint_whose_requests_are_limited_is_not_answered_before_the_limit()
    {
        await using HybridShop shop = await HybridShop.StartAsync(isEarly: true);
        await shop.GetAsync("/limited");

        using HttpResponseMessage response = await shop.SendAsync(HttpMethod.Get, "/limited");

        Assert.True(response.Headers.Contains("X-Behind"));
        Assert.Equal(1, shop.Made);
    }

    [Fact]
    public async Task Function_distinguishes_responses_and_decides_which_are_not_kept()
    {
        await using HybridShop shop = await HybridShop.StartAsync(
            books: output => output.VaryBy = context => context.Request.Headers.TryGetValue("X-Shop", out var name) ? name.ToString() : null, isEarly: true);

        Assert.NotEqual(await shop.GetAsync("/books/42", "X-Shop", "a"), await shop.GetAsync("/books/42", "X-Shop", "b"));
        Assert.Equal(await shop.GetAsync("/books/42", "X-Shop", "a"), await shop.GetAsync("/books/42", "X-Shop", "a"));
        Assert.NotEqual(await shop.GetAsync("/books/42"), await shop.GetAsync("/books/42"));
    }

    [Fact]
    public async Task Part_of_a_request_cannot_be_written_so_that_it_looks_like_another_part()
    {
        await using HybridShop shop = await HybridShop.StartAsync(
            books: output =>
            {
                output.VaryByQuery = ["a", "b"];
                output.VaryByHeader.Add("X-Currency");
            },
            isEarly: true);
        string[] paths =
        [
            "/books/42", "/books/42?a=1", "/books/42%3Fa=1", "/books/42?a=1&b=1", "/books/42?a=1%261:b", "/books/42?a=1%7C1,1:1", "/books/42?b=1",
            "/books/42%7C1,1:1", "/books/42?a=1,1:1", "/books/~|42",
        ];

        Assert.Equal(paths.Length, await DifferentAsync(shop, paths, prefix: ""));
        Assert.NotEqual(await shop.GetAsync("/books/42", "X-Currency", "1|1,1:1"), await shop.GetAsync("/books/42?b=1", "X-Currency", "1"));
    }

    [Theory]
    [InlineData("status", HttpStatusCode.NotFound)]
    [InlineData("throws", HttpStatusCode.InternalServerError)]
    [InlineData("cookie", HttpStatusCode.OK)]
    [InlineData("says-no", HttpStatusCode.OK)]
    [InlineData("vary", HttpStatusCode.OK)]
    [InlineData("no-store", HttpStatusCode.OK)]
    [InlineData("no-cache", HttpStatusCode.OK)]
    [InlineData("private, max-age=60", HttpStatusCode.OK)]
    [InlineData("max-age=\"", HttpStatusCode.OK)]
    public async Task Response_that_must_not_be_shared_is_delivered_and_not_kept(string how, HttpStatusCode status)
    {
        await using HybridShop shop = await HybridShop.StartAsync(isEarly: true);
        string path = "/fails/" + Uri.EscapeDataString(how);
        using HttpResponseMessage first = await shop.SendAsync(HttpMethod.Get, path);
        using HttpResponseMessage second = await shop.SendAsync(HttpMethod.Get, path);

        Assert.Equal((status, status), (first.StatusCode, second.StatusCode));
        Assert.Equal(2, shop.Made);
        if (how != "throws")
        {
            Assert.NotEqual(await first.Content.ReadAsStringAsync(), await second.Content.ReadAsStringAsync());
        }
    }

    [Fact]
    public async Task Requests_that_waited_for_a_response_that_must_not_be_shared_get_their_own()
    {
        const int Requests = 20;
        await using HybridShop shop = await HybridShop.StartAsync();
        var isWaitedFor = new TaskCompletionSource();
        shop.Gate = _ => isWaitedFor.Task;

        Task<HttpResponseMessage>[] answers =
            [.. Enumerable.Range(0, Requests).Select(_ => shop.SendAsync(HttpMethod.Get, "/fails/cookie"))];
        await UntilAsync(() => shop.Cache.GetStatistics().Joined == Requests - 1);
        isWaitedFor.SetResult();

        var bodies = new HashSet<string>(StringComparer.Ordinal);
        foreach (HttpResponseMessage answer in await Task.WhenAll(answers))
        {
            Assert.True(bodies.Add(await answer.Content.ReadAsStringAsync()));
            Assert.True(answer.Headers.Contains("Set-Cookie"));
            answer.Dispose();
        }

        Assert.Equal(Requests, shop.Made);
    }

    [Fact]
    public async Task Request_with_an_identity_neither_gets_nor_leaves_a_shared_response()
    {
        await using HybridShop shop = await HybridShop.StartAsync(isEarly: true);
        string mine = await shop.GetAsync("/books/42", "Authorization", "Bearer me");
        string everybodys = await shop.GetAsync("/books/42");

        Assert.NotEqual(mine, everybodys);
        Assert.NotEqual(everybodys, await shop.GetAsync("/books/42", "Authorization", "Bearer me"));
        Assert.Equal(everybodys, await shop.GetAsync("/books/42"));
    }

    [Fact]
    public async Task Authenticated_user_neither_gets_nor_leaves_what_others_get()
    {
        await using HybridShop shop = await HybridShop.StartAsync(isAuthenticated: true);

        Assert.NotEqual(await shop.GetAsync("/books/42"), await shop.GetAsync("/books/42"));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Client_that_has_the_response_gets_304_without_a_body(bool isEarly)
    {
        await using HybridShop shop = await HybridShop.StartAsync(isEarly: isEarly);
        using HttpResponseMessage first = await shop.SendAsync(HttpMethod.Get, "/books/42");
        string tag = first.Headers.ETag!.ToString();
        string strong = tag.Replace("W/", "", StringComparison.Ordinal);

        foreach (string condition in new[] { tag, strong, "*", $"\"other\", {tag}" })
        {
            using HttpResponseMessage unchanged = await shop.SendAsync(HttpMethod.Get, "/books/42", ("If-None-Match", condition));
            Assert.Equal(HttpStatusCode.NotModified, unchanged.StatusCode);
            Assert.Equal(tag, unchanged.Headers.ETag!.ToString());
            Assert.Empty(await unchanged.Content.ReadAsByteArrayAsync());
        }

        foreach (string condition in new[] { "\"other\"", "", "nonsense", "W/", $"{tag[..^1]}x\"" })
        {
            using HttpResponseMessage changed = await shop.SendAsync(HttpMethod.Get, "/books/42", ("If-None-Match", condition));
            Assert.Equal(HttpStatusCode.OK, changed.StatusCode);
        }

        Assert.Equal(1, shop.Made);
    }

    [Fact]
    public async Task Condition_of_the_first_request_does_not_keep_the_response_from_being_made()
    {
        await using HybridShop shop = await HybridShop.StartAsync();
        using HttpResponseMessage first = await shop.SendAsync(HttpMethod.Get, "/books/42", ("If-None-Match", "*"), ("If-Modified-Since", "x"));

        string second = await shop.GetAsync("/books/42");

        Assert.Equal(HttpStatusCode.NotModified, first.StatusCode);
        Assert.Equal(1, shop.Made);
        Assert.NotEmpty(second);
    }

    [Fact]
    public async Task Date_counts_for_clients_that_name_no_entity_tag()
    {
        await using HybridShop shop = await HybridShop.StartAsync();
        const string Modified = "Sun, 01 Nov 2026 10:00:00 GMT";
        string path = $"/says/Last-Modified?value={Uri.EscapeDataString(Modified)}";
        await shop.GetAsync(path);

        Assert.Equal(HttpStatusCode.NotModified, await StatusAsync(("If-Modified-Since", Modified)));
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(("If-Modified-Since", "Sun, 01 Nov 2026 09:59:59 GMT")));
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(("If-Modified-Since", Modified), ("If-None-Match", "\"other\"")));
        Assert.Equal(1, shop.Made);

        async Task<HttpStatusCode> StatusAsync(params (string, string)[] headers)
        {
            using HttpResponseMessage response = await shop.SendAsync(HttpMethod.Get, path, headers);
            return response.StatusCode;
        }
    }

    [Fact]
    public async Task Entity_tag_of_the_endpoint_is_kept()
    {
        await using HybridShop shop = await HybridShop.StartAsync();
        const string Path = "/says/ETag?value=%22seven%22";
        await shop.GetAsync(Path);

        using HttpResponseMessage response = await shop.SendAsync(HttpMethod.Get, Path);

        Assert.Equal("\"seven\"", response.Headers.ETag!.ToString());
    }

    [Fact]
    public async Task Age_is_sent_with_a_response_that_has_a_lifetime()
    {
        await using HybridShop shop = await HybridShop.StartAsync();
        const string Path = "/says/Cache-Control?value=public,max-age=60";
        await shop.GetAsync(Path);

        using HttpResponseMessage response = await shop.SendAsync(HttpMethod.Get, Path);

        Assert.Equal("public, max-age=60", response.Headers.CacheControl!.ToString());
        Assert.InRange(response.Headers.Age!.Value, TimeSpan.Zero, TimeSpan.FromMinutes(1));
    }

    [Fact]
    public async Task Head_is_answered_with_what_is_kept_for_get_and_leaves_nothing()
    {
        await using HybridShop shop = await HybridShop.StartAsync(isEarly: true);
        using HttpResponseMessage cold = await shop.SendAsync(HttpMethod.Head, "/both");
        string body = await shop.GetAsync("/both");

        using HttpResponseMessage warm = await shop.SendAsync(HttpMethod.Head, "/both");

        Assert.Equal(2, shop.Made);
        Assert.Equal(body.Length, warm.Content.Headers.ContentLength);
        Assert.Empty(await warm.Content.ReadAsByteArrayAsync());
        using HttpResponseMessage post = await shop.SendAsync(HttpMethod.Post, "/both");
        Assert.Equal(HttpStatusCode.MethodNotAllowed, post.StatusCode);
    }

    [Theory]
    [InlineData("books")]
    [InlineData("book:42")]
    [InlineData("*")]
    public async Task Tag_of_the_options_or_of_the_endpoint_removes_the_response(string tag)
    {
        await using HybridShop shop = await HybridShop.StartAsync(isEarly: true);
        string first = await shop.GetAsync("/books/42");
        await shop.Cache.RemoveByTagAsync("book:43");
        Assert.Equal(first, await shop.GetAsync("/books/42"));

        await shop.Cache.RemoveByTagAsync(tag);

        string second = await shop.GetAsync("/books/42");
        Assert.NotEqual(first, second);
        Assert.Equal(second, await shop.GetAsync("/books/42"));
    }

    [Fact]
    public async Task Response_is_removed_by_its_path_if_nothing_else_matters()
    {
        await using HybridShop shop = await HybridShop.StartAsync(isEarly: true);
        string first = await shop.GetAsync("/books/42");

        await shop.Cache.RemoveAsync("/books/42");

        Assert.NotEqual(first, await shop.GetAsync("/books/42"));
    }

    [Fact]
    public async Task Response_whose_late_tag_is_invalidated_while_it_is_made_is_not_kept()
    {
        await using HybridShop shop = await HybridShop.StartAsync();
        shop.Gate = async _ => await shop.Cache.RemoveByTagAsync("gated");
        string overtaken = await shop.GetAsync("/gated");
        shop.Gate = _ => Task.CompletedTask;

        string next = await shop.GetAsync("/gated");

        Assert.NotEqual(overtaken, next);
        Assert.Equal(next, await shop.GetAsync("/gated"));
    }

    [Fact]
    public async Task However_many_ask_at_once_the_endpoint_runs_once()
    {
        const int Requests = 100;
        await using HybridShop shop = await HybridShop.StartAsync();
        var isWaitedFor = new TaskCompletionSource();
        shop.Gate = _ => isWaitedFor.Task;

        Task<string>[] answers = [.. Enumerable.Range(0, Requests).Select(_ => shop.GetAsync("/gated"))];
        await UntilAsync(() => shop.Cache.GetStatistics().Joined == Requests - 1);
        isWaitedFor.SetResult();

        Assert.Single((await Task.WhenAll(answers)).Distinct(StringComparer.Ordinal));
        Assert.Equal(1, shop.Made);
    }

    [Fact]
    public async Task Client_that_leaves_while_the_response_is_created_does_not_take_it_from_others()
    {
        await using HybridShop shop = await HybridShop.StartAsync();
        var isGone = new TaskCompletionSource();
        shop.Gate = _ => isGone.Task;
        using var leaving = new CancellationTokenSource();
        Task<string> first = shop.Client.GetStringAsync(new Uri("/gated", UriKind.Relative), leaving.Token);
        await UntilAsync(() => shop.Made == 1);
        Task<string> second = shop.GetAsync("/gated");
        await UntilAsync(() => shop.Cache.GetStatistics().Joined == 1);

        await leaving.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => first);
        isGone.SetResult();

        Assert.Equal(await second, await shop.GetAsync("/gated"));
        Assert.Equal(1, shop.Made);
    }

    [Fact]
    public async Task Error_reaches_all_waiting_requests_and_the_next_request_tries_again()
    {
        await using HybridShop shop = await HybridShop.StartAsync();
        var isWaitedFor = new TaskCompletionSource();
        shop.Gate = _ => isWaitedFor.Task;
        Task<HttpResponseMessage>[] answers = [.. Enumerable.Range(0, 5).Select(_ => shop.SendAsync(HttpMethod.Get, "/fails/throws"))];
        await UntilAsync(() => shop.Cache.GetStatistics().Joined == 4);
        isWaitedFor.SetResult();

        foreach (HttpResponseMessage answer in await Task.WhenAll(answers))
        {
            Assert.Equal(HttpStatusCode.InternalServerError, answer.StatusCode);
            answer.Dispose();
        }

        Assert.Equal(1, shop.Made);
        using HttpResponseMessage next = await shop.SendAsync(HttpMethod.Get, "/fails/throws");
        Assert.Equal(2, shop.Made);
    }

    [Theory]
    [InlineData(9_000, 1)]
    [InlineData(10_001, 2)]
    [InlineData(1_000_000, 2)]
    public async Task Longer_body_than_the_limit_is_delivered_whole_and_not_kept(int length, int made)
    {
        await using HybridShop shop = await HybridShop.StartAsync();

        Assert.EndsWith(new string('x', length), await shop.GetAsync($"/long/{length}"), StringComparison.Ordinal);
        Assert.EndsWith(new string('x', length), await shop.GetAsync($"/long/{length}"), StringComparison.Ordinal);
        Assert.Equal(made, shop.Made);
    }

    [Fact]
    public async Task Stream_that_must_not_be_buffered_is_sent_as_it_is_written()
    {
        await using HybridShop shop = await HybridShop.StartAsync();
        var isRead = new TaskCompletionSource();
        shop.Gate = _ => isRead.Task;
        using HttpResponseMessage response = await shop.Client.GetAsync(new Uri("/stream", UriKind.Relative), HttpCompletionOption.ResponseHeadersRead);
        await using Stream body = await response.Content.ReadAsStreamAsync();

        Assert.NotEqual(0, await body.ReadAsync(new byte[100]));
        isRead.SetResult();
        using var rest = new StreamReader(body);

        Assert.Equal(" end", await rest.ReadToEndAsync());
        await shop.GetAsync("/stream");
        Assert.Equal(2, shop.Made);
    }

    [Theory]
    [InlineData("/books/42?q=", 4_000)]
    [InlineData("/books/", 4_000)]
    public async Task Key_that_is_too_long_is_answered_and_not_kept(string start, int length)
    {
        await using HybridShop shop = await HybridShop.StartAsync(isEarly: true);
        string path = start + new string('q', length);

        Assert.NotEqual(await shop.GetAsync(path), await shop.GetAsync(path));
        Assert.Equal(0, shop.Cache.GetStatistics().LocalEntries);
    }

    [Fact]
    public async Task Path_with_control_characters_is_answered_and_not_kept()
    {
        await using HybridShop shop = await HybridShop.StartAsync(isEarly: true);

        Assert.NotEqual(await shop.GetAsync("/books/%0D%0ASet-Cookie:x"), await shop.GetAsync("/books/%0D%0ASet-Cookie:x"));
        Assert.Equal(0, shop.Cache.GetStatistics().LocalEntries);
    }

    [Fact]
    public async Task Range_is_left_to_the_endpoint()
    {
        await using HybridShop shop = await HybridShop.StartAsync(isEarly: true);
        string kept = await shop.GetAsync("/books/42");

        Assert.NotEqual(kept, await shop.GetAsync("/books/42", "Range", "bytes=0-1"));
        Assert.Equal(kept, await shop.GetAsync("/books/42"));
    }

    [Fact]
    public async Task Response_ends_when_its_time_is_over()
    {
        var clock = new ManualClock();
        await using HybridShop shop = await HybridShop.StartAsync(
            cache => cache.TimeProvider = clock, output => output.Expiration = TimeSpan.FromMinutes(2), isEarly: true);
        string first = await shop.GetAsync("/books/42");

        clock.Advance(TimeSpan.FromMinutes(2) - TimeSpan.FromMilliseconds(1));
        Assert.Equal(first, await shop.GetAsync("/books/42"));

        clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.NotEqual(first, await shop.GetAsync("/books/42"));
    }

    [Fact]
    public async Task Options_out_of_range_and_a_missing_cache_are_reported_when_the_application_starts()
    {
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => GetAsync(output => output.Expiration = TimeSpan.Zero));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => GetAsync(output => output.MaxBodyBytes = -1));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => GetAsync(output => output.MaxBodyBytes = (64 << 20) + 1));
        await Assert.ThrowsAsync<ArgumentException>(() => GetAsync(output => output.Tags.Add("*")));

        await using WebApplication without = WebApplication.CreateSlimBuilder().Build();
        Assert.Contains("AddHybridOutput", Assert.Throws<InvalidOperationException>(() => without.UseCairnHybridOutput()).Message, StringComparison.Ordinal);

        static async Task GetAsync(Action<CairnHybridOutputOptions> configure)
        {
            await using HybridShop shop = await HybridShop.StartAsync(books: configure);
        }
    }

    private static async Task<int> DifferentAsync(HybridShop shop, string[] paths, string prefix = "/books/42")
    {
        var different = new HashSet<string>(StringComparer.Ordinal);
        foreach (string path in paths)
        {
            string response = await shop.GetAsync(prefix + path);
            Assert.Equal(response, await shop.GetAsync(prefix + path));
            different.Add(response);
        }

        return different.Count;
    }

    // Another thread causes the state. No event reports it.
    private static async Task UntilAsync(Func<bool> isSo)
    {
        while (!isSo())
        {
            await Task.Yield();
        }
    }
}
