using System.Text.Json;
using System.Text.Json.Serialization;

namespace Cairn.FileStore.Tests.Versions;

/// <summary>IDistributedFileStoreCacheClass.</summary>
public sealed class ClassTests : IDisposable
{
    private readonly CacheFile _file = new();

    private static Outer Example => new() { MyInt = 3, MyClass1 = new Inner { MyInt = 1, MyString = "Hello <\"wörld\">" } };

    public void Dispose() => _file.Dispose();

    [Fact]
    public void Object_comes_back_and_is_JSON_in_the_file_and_to_string_members()
    {
        DistributedFileStoreCacheClass cache = _file.OpenClass();

        cache.SetClass("a", new Outer { MyInt = 3, MyClass1 = new Inner { MyInt = 1, MyString = "Hello" } });

        const string Json = """{"MyClass1":{"MyInt":1,"MyString":"Hello"},"MyInt":3}""";
        Assert.Equal(Json, cache.Get("a"));
        Assert.Equal(Json, cache.GetAllKeyValues()["a"]);
        Assert.Contains($"[\"a\",{Json}]", _file.Text, StringComparison.Ordinal);
        Outer found = _file.OpenClass().GetClass<Outer>("a")!;
        Assert.Equal(3, found.MyInt);
        Assert.Equal("Hello", found.MyClass1!.MyString);
        Assert.Equal(1, cache.GetClassFromString<Outer>(Json)!.MyClass1!.MyInt);
        Assert.Null(cache.GetClassFromString<Outer>(null));
        Assert.Null(cache.GetClass<Outer>("b"));
    }

    [Fact]
    public void String_of_JSON_can_be_read_as_an_object()
    {
        DistributedFileStoreCacheClass cache = _file.OpenClass();

        cache.Set("a", """{"MyInt":7}""");

        Assert.Equal(7, cache.GetClass<Outer>("a")!.MyInt);
        Assert.Contains("\\\"MyInt\\\"", _file.Text, StringComparison.Ordinal);
    }

    [Fact]
    public void Many_objects_are_set_with_one_write()
    {
        DistributedFileStoreCacheClass cache = _file.OpenClass();

        cache.SetManyClass<Outer>([new("a", Example), new("b", new Outer { MyInt = 4 })]);

        Assert.Equal("Hello <\"wörld\">", cache.GetClass<Outer>("a")!.MyClass1!.MyString);
        Assert.Equal(4, _file.OpenClass().GetClass<Outer>("b")!.MyInt);
        Assert.Contains("Hello <\\\"wörld\\\">", _file.Text, StringComparison.Ordinal);
    }

    [Fact]
    public void Objects_are_the_callers_own_unless_they_may_be_shared()
    {
        DistributedFileStoreCacheClass own = _file.OpenClass();
        DistributedFileStoreCacheClass shared = _file.OpenClass(options => options.ShareObjects = true);
        own.SetClass("a", Example);

        Assert.NotSame(own.GetClass<Outer>("a"), own.GetClass<Outer>("a"));
        Outer first = shared.GetClass<Outer>("a")!;
        Assert.Same(first, shared.GetClass<Outer>("a"));
        own.SetClass("a", new Outer { MyInt = 9 });
        Assert.Equal(9, shared.GetClass<Outer>("a")!.MyInt);
    }

    [Fact]
    public void Options_that_indent_are_refused_because_an_entry_has_one_line()
    {
        var json = new JsonSerializerOptions { WriteIndented = true };

        var refused = Assert.Throws<ArgumentException>(() => _file.OpenClass(options => options.JsonSerializerForCacheFile = json));

        Assert.Contains("JsonSerializerForCacheFile has WriteIndented set", refused.Message, StringComparison.Ordinal);
        Assert.Throws<ArgumentException>(() => _file.Open(options => options.JsonSerializerForCacheFile = json));
        Assert.Throws<ArgumentException>(() => _file.OpenBytes(options => options.JsonSerializerForCacheFile = json));
        Assert.Empty(_file.FileNames);
    }

    [Fact]
    public void Given_options_are_used()
    {
        var json = new JsonSerializerOptions { PropertyNamingPolicy = JsonNamingPolicy.CamelCase };
        DistributedFileStoreCacheClass cache = _file.OpenClass(options => options.JsonSerializerForCacheFile = json);

        cache.SetClass("a", new Outer { MyInt = 3 });

        Assert.Equal("""{"myClass1":null,"myInt":3}""", cache.Get("a"));
        Assert.Equal(3, cache.GetClass<Outer>("a")!.MyInt);
    }

    [Fact]
    public void Object_laid_out_by_hand_over_several_lines_becomes_one_line()
    {
        DistributedFileStoreCacheClass cache = _file.OpenClass();
        cache.SetClass("a", Example);

        _file.Replace("""
            { "format": "cairn.filestore/1",
              "entries": [
                { "key": "a",
                  "value": {
                    "MyInt": 5,
                    "MyClass1": { "MyString": "two words" }
                  }
                }
            ] }
            """);

        Eventually.Equal(5, () => cache.GetClass<Outer>("a")!.MyInt);
        Assert.Equal("""{"MyInt":5,"MyClass1":{"MyString":"two words"}}""", cache.Get("a"));
        cache.Set("b", "1");
        Assert.Equal("two words", _file.OpenClass().GetClass<Outer>("a")!.MyClass1!.MyString);
    }

    [Fact]
    public async Task Asynchronous_members_do_the_same()
    {
        DistributedFileStoreCacheClass cache = _file.OpenClass();

        await cache.SetClassAsync("a", Example);
        await cache.SetManyClassAsync<Outer>([new("b", Example)]);

        Assert.Equal(3, (await cache.GetClassAsync<Outer>("a"))!.MyInt);
        Assert.Equal(3, (await cache.GetClassAsync<Outer>("b"))!.MyInt);
    }

    internal sealed class Outer
    {
        [JsonPropertyOrder(1)]
        public Inner? MyClass1 { get; set; }

        [JsonPropertyOrder(2)]
        public int MyInt { get; set; }
    }

    internal sealed class Inner
    {
        public int MyInt { get; set; }

        public string? MyString { get; set; }
    }
}
