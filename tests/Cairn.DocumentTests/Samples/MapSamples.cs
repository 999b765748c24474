using System.Text.Json.Serialization;

namespace Cairn.DocumentTests.Samples;

/// <summary>Persistent maps: the README, the tutorial of maps, their reference.</summary>
public sealed partial class MapSamples : SampleTest
{
    [Fact]
    public void Map_of_the_readme()
    {
        using var stock = PersistentMap.Open<string, int>("stock.cairn");
        stock.AddOrUpdate("Dune", 1, (_, copies) => copies + 1);

        Assert.Equal(1, stock["Dune"]);
    }

    [Fact]
    public void Counting_copies()
    {
        CountOne();
        CountOne();

        Assert.Equal("1 copies of Dune, 1 titles.\n2 copies of Dune, 1 titles.\n", Output);

        static void CountOne()
        {
            using var stock = PersistentMap.Open<string, int>("stock.cairn");

            stock["Dune"] = stock.Get("Dune") + 1;
            Console.WriteLine($"{stock["Dune"]} copies of Dune, {stock.Count} titles.");
        }
    }

    [Fact]
    public void Counting_by_several_processes()
    {
        using var stock = PersistentMap.Open<string, int>("stock.cairn");

        int copies = stock.AddOrUpdate("Dune", 1, (title, present) => present + 1);
        string title = stock.GetOrAdd("Emma", _ => 5) > 0 ? "Emma" : "nothing";
        Console.WriteLine($"{copies} copies of Dune, and {title}.");

        Assert.Equal("1 copies of Dune, and Emma.\n", Output);
    }

    [Fact]
    public void Waiting_for_the_disk()
    {
        using var orders = PersistentMap.Open("orders.cairn", new MapOptions<int, string> { Durability = Durability.GroupCommit });

        orders[1] = "Dune";
        Console.WriteLine($"The order of {orders[1]} is on the disk.");

        Assert.Equal("The order of Dune is on the disk.\n", Output);
    }

    [Fact]
    public void Transaction_over_two_maps()
    {
        using var store = CairnStore.Open(new StoreOptions { Path = "shop.cairn", CapacityBytes = 64 << 20 });
        PersistentMap<string, int> stock = store.Map<string, int>("stock");
        PersistentMap<int, string> orders = store.Map<int, string>("orders");

        using StoreTransaction sale = store.BeginTransaction();
        sale.Set(stock, "Dune", sale.Get(stock, "Dune") + 1).Set(orders, 7, "Dune");
        sale.Commit();
        Console.WriteLine($"{stock["Dune"]} copies, order {orders[7]}");

        Assert.Equal("1 copies, order Dune\n", Output);
    }

    [Fact]
    public void Objects()
    {
        using var books = PersistentMap.Open<Guid, Book>("books.cairn");

        var dune = Guid.NewGuid();
        books[dune] = new Book("Dune", 1965, ["sand", "spice"]);
        Console.WriteLine(books[dune].Title);

        Assert.Equal("Dune\n", Output);
    }

    [Fact]
    public void Enumerating()
    {
        using (var before = PersistentMap.Open<string, int>("stock.cairn"))
        {
            before["Dune"] = 2;
            before["Emma"] = 5;
        }

        using var stock = PersistentMap.Open<string, int>("stock.cairn");

        foreach ((string title, int copies) in stock)
        {
            Console.WriteLine($"{copies} x {title}");
        }

        IReadOnlyDictionary<string, int> all = stock.GetAll();
        Console.WriteLine($"{all.Values.Sum()} copies of {all.Count} titles.");

        Assert.Contains("2 x Dune\n", Output, StringComparison.Ordinal);
        Assert.EndsWith("7 copies of 2 titles.\n", Output, StringComparison.Ordinal);
    }

    [Fact]
    public void Several_maps_in_one_file()
    {
        using var store = CairnStore.Open(new StoreOptions { Path = "shop.cairn", CapacityBytes = 64 << 20 });

        PersistentMap<string, int> stock = store.Map<string, int>("stock");
        PersistentMap<int, string> pages = store.Map("pages", new MapOptions<int, string>
        {
            Region = StoreRegion.Evict,
            DefaultExpiration = TimeSpan.FromMinutes(10),
        });

        stock["Dune"] = 3;
        pages[1] = "<html>";
        pages.Set(2, "<html>", TimeSpan.FromSeconds(5));
        Console.WriteLine($"{stock["Dune"]}, {pages.Count}");

        Assert.Equal("3, 2\n", Output);
    }

    [Fact]
    public void Metadata_of_json_is_given()
    {
        var options = new MapOptions<int, Book> { JsonOptions = Json.Default.Options };

        using var store = CairnStore.Open(new StoreOptions { Path = "shop.cairn", CapacityBytes = 64 << 20 });
        var books = store.Map("books", options);
        books[42] = new Book("Dune", 1965, ["sand"]);
        Assert.Equal("Dune", books[42].Title);
    }

    internal sealed record Book(string Title, int Year, string[] Tags);

    [JsonSerializable(typeof(Book))]
    internal sealed partial class Json : JsonSerializerContext;
}
