using System.Net;
using System.Net.Http.Json;
using Bookshop.Tests.Servers;

namespace Bookshop.Tests.Endpoints;

/// <summary>Settings in a file that people can read.</summary>
[Collection(BookshopCollection.Name)]
public sealed class SettingEndpointTests(BookshopFixture fixture)
{
    private static readonly Uri Settings = new("/api/settings", UriKind.Relative);

    [RequiresToolFact(PostgresServer.Program)]
    public async Task Setting_that_is_added_is_listed_by_every_process_and_stands_in_the_file()
    {
        var shop = await fixture.OpenAsync("hybrid");
        var other = await fixture.OpenAsync("dapper");
        var key = $"notice-{fixture.NextNumber()}";

        using var response = await shop.Client.Http.PostAsJsonAsync(Settings, new { key, value = "Closed on Sunday" });

        Assert.Equal(HttpStatusCode.NoContent, response.StatusCode);
        Assert.Equal("Closed on Sunday", (await other.Client.JsonAsync("/api/settings")).GetProperty(key).GetString());
        Assert.Contains($$"""["{{key}}","Closed on Sunday"]""", await File.ReadAllTextAsync(fixture.SettingsFile), StringComparison.Ordinal);
    }

    [RequiresToolFact(PostgresServer.Program)]
    public async Task Page_shows_the_settings_and_adds_one()
    {
        var shop = await fixture.OpenAsync("hybrid");

        using var response = await shop.Client.Http.GetAsync(new Uri("/settings", UriKind.Relative));

        Assert.Equal("text/html", response.Content.Headers.ContentType?.MediaType);
        var page = await response.Content.ReadAsStringAsync();
        Assert.Contains("<form>", page, StringComparison.Ordinal);
        Assert.Contains("'/api/settings'", page, StringComparison.Ordinal);
    }

    [RequiresToolFact(PostgresServer.Program)]
    public async Task Setting_without_a_key_or_sent_as_a_form_is_refused()
    {
        var shop = await fixture.OpenAsync("hybrid");
        using var form = new FormUrlEncodedContent([new("key", "notice"), new("value", "forged")]);

        using var nameless = await shop.Client.Http.PostAsJsonAsync(Settings, new { key = "", value = "x" });
        using var foreign = await shop.Client.Http.PostAsync(Settings, form);

        Assert.Equal(HttpStatusCode.BadRequest, nameless.StatusCode);
        Assert.Equal(HttpStatusCode.UnsupportedMediaType, foreign.StatusCode);
    }
}
