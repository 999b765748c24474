namespace Cairn.Tests.Maps;

/// <summary>Random operations have the same results on a map and on a dictionary with deadlines.</summary>
public sealed class MapModelTests : StoreTest
{
    private const int Operations = 4_000;
    private const int Keys = 300;

    public static TheoryData<int> Seeds => [.. Enumerable.Range(1, 6)];

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Map_of_numbers_does_what_a_dictionary_does(int seed) =>
        Run(seed, number => number, number => number);

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Map_of_texts_does_what_a_dictionary_does(int seed) =>
        Run(seed, number => $"key:{number}", number => new string((char)('a' + (number % 26)), number % 700));

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Map_of_objects_does_what_a_dictionary_does(int seed) =>
        Run(seed, number => (long)number, number => new Item($"{number}", number % 7 == 0 ? [] : [number, number + 1]));

    private void Run<TKey, TValue>(int seed, Func<int, TKey> keyOf, Func<int, TValue> valueOf)
        where TKey : notnull
        where TValue : notnull
    {
        var random = new Random(seed);
        var model = new Dictionary<TKey, (TValue Value, DateTimeOffset Deadline)>();
        MapOptions<TKey, TValue> options = PersistentMapTests.Kept<TKey, TValue>();
        CairnStore store = Open(Options);
        PersistentMap<TKey, TValue> map = store.Map("model", options);
        for (int i = 0; i < Operations; i++)
        {
            TKey key = keyOf(random.Next(Keys));
            TValue value = valueOf(random.Next(100_000));
            if (model.TryGetValue(key, out var old) && old.Deadline <= Clock.Now)
            {
                model.Remove(key);
            }

            bool isThere = model.ContainsKey(key);
            switch (random.Next(13))
            {
                case 0 or 1 or 2:
                    map.Set(key, value);
                    model[key] = (value, DateTimeOffset.MaxValue);
                    break;
                case 3:
                    TimeSpan life = TimeSpan.FromSeconds(random.Next(1, 100));
                    map.Set(key, value, life);
                    model[key] = (value, Clock.Now + life);
                    break;
                case 4:
                    Assert.Equal(!isThere, map.TryAdd(key, value));
                    model.TryAdd(key, (value, DateTimeOffset.MaxValue));
                    break;
                case 5:
                    AssertSame(isThere ? model[key].Value : value, map.GetOrAdd(key, value));
                    model.TryAdd(key, (value, DateTimeOffset.MaxValue));
                    break;
                case 6:
                    TValue expected = isThere ? model[key].Value : value;
                    AssertSame(expected, map.AddOrUpdate(key, value, (_, present) => present));
                    model[key] = (expected, DateTimeOffset.MaxValue);
                    break;
                case 7:
                    Assert.Equal(isThere, map.Remove(key));
                    model.Remove(key);
                    break;
                case 8:
                    Assert.Equal(isThere, map.Remove(key, out TValue? removed));
                    AssertSame(isThere ? model[key].Value : default, removed);
                    model.Remove(key);
                    break;
                case 9:
                    Clock.Advance(TimeSpan.FromSeconds(random.Next(10)));
                    break;
                case 10 when random.Next(100) == 0:
                    map.Clear();
                    model.Clear();
                    break;
                case 11 when random.Next(40) == 0:
                    store.Dispose();
                    store = Open(Options);
                    map = store.Map("model", options);
                    break;
                default:
                    Assert.Equal(isThere, map.TryGet(key, out TValue? found));
                    AssertSame(isThere ? model[key].Value : default, found);
                    Assert.Equal(isThere, map.Contains(key));
                    break;
            }

            if (i % 500 == 0)
            {
                AssertSame(model, map);
            }
        }

        AssertSame(model, map);
    }

    private void AssertSame<TKey, TValue>(Dictionary<TKey, (TValue Value, DateTimeOffset Deadline)> model, PersistentMap<TKey, TValue> map)
        where TKey : notnull
        where TValue : notnull
    {
        KeyValuePair<TKey, TValue>[] expected =
            [.. model.Where(entry => entry.Value.Deadline > Clock.Now).Select(entry => KeyValuePair.Create(entry.Key, entry.Value.Value)).OrderBy(entry => entry.Key)];
        AssertSame(expected, map.OrderBy(entry => entry.Key).ToArray());
        AssertSame(expected, map.GetAll().OrderBy(entry => entry.Key).ToArray());
        Assert.Equal(expected.Select(entry => entry.Key), map.GetAllKeys().Order());
        Assert.Equal(expected.Length, map.GetAllValues().Count);
        Assert.InRange(map.Count, expected.Length, model.Count + Keys);
    }

    private static void AssertSame<T>(T expected, T actual) => Assert.Equivalent(expected, actual, strict: true);

    private sealed record Item(string Name, int[] Numbers);
}
