using System.Net.Http.Json;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.DependencyInjection;

namespace Bookshop.Tests;

/// <summary>The API in this process, listening on a port of its own.</summary>
internal sealed class RunningShop : IAsyncDisposable
{
    private readonly WebApplication _application;

    private RunningShop(WebApplication application)
    {
        _application = application;
        Address = new Uri(application.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.Single());
        Client = new ShopClient(Address);
    }

    public Uri Address { get; }

    public ShopClient Client { get; }

    public static async Task<RunningShop> StartAsync(string[] settings)
    {
        var application = BookshopApplication.Create([.. settings, "--Logging:LogLevel:Default", "Error"]);
        await application.StartAsync();
        return new RunningShop(application);
    }

    public async ValueTask DisposeAsync()
    {
        Client.Dispose();
        await _application.StopAsync();
        await _application.DisposeAsync();
    }
}

/// <summary>A client of one API.</summary>
internal sealed class ShopClient(Uri address) : IDisposable
{
    public HttpClient Http { get; } = new() { BaseAddress = address, Timeout = TimeSpan.FromSeconds(30) };

    public static object Book(int number, string title = "Dune", int authorId = 1, decimal price = 9.99m) => new
    {
        authorId, title, isbn = Bookshop.Catalogue.Isbn.OfNumber(number), published = "1965-08-01", pages = 412, price, language = "en",
        description = "Of sand.",
    };

    public static object Author(string name) => new { name, country = "Japan", born = 1950 };

    public Task<HttpResponseMessage> FindAsync(int id) => Http.GetAsync(new Uri($"/api/books/{id}", UriKind.Relative));

    /// <summary>Returns the book's title, or null if the book does not exist.</summary>
    public async Task<string?> TitleAsync(int id)
    {
        using var response = await FindAsync(id);
        return response.IsSuccessStatusCode ? (await JsonAsync(response)).GetProperty("title").GetString() : null;
    }

    public async Task<string> AuthorNameAsync(int id)
    {
        using var response = await FindAsync(id);
        return (await JsonAsync(response)).GetProperty("author").GetProperty("name").GetString()!;
    }

    public Task<int> CreateBookAsync(object book) => CreateAsync("/api/books", book);

    public Task<int> CreateAuthorAsync(string name) => CreateAsync("/api/authors", Author(name));

    public async Task ReplaceBookAsync(int id, object book)
    {
        using var response = await Http.PutAsJsonAsync($"/api/books/{id}", book);
        response.EnsureSuccessStatusCode();
    }

    public async Task DeleteBookAsync(int id)
    {
        using var response = await Http.DeleteAsync(new Uri($"/api/books/{id}", UriKind.Relative));
        response.EnsureSuccessStatusCode();
    }

    public async Task<JsonElement> JsonAsync(string path)
    {
        using var response = await Http.GetAsync(new Uri(path, UriKind.Relative));
        response.EnsureSuccessStatusCode();
        return await JsonAsync(response);
    }

    public static async Task<JsonElement> JsonAsync(HttpResponseMessage response) => await response.Content.ReadFromJsonAsync<JsonElement>();

    public void Dispose() => Http.Dispose();

    private async Task<int> CreateAsync(string path, object body)
    {
        using var response = await Http.PostAsJsonAsync(path, body);
        response.EnsureSuccessStatusCode();
        return (await JsonAsync(response)).GetProperty("id").GetInt32();
    }
}
