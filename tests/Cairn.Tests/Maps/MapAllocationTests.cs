namespace Cairn.Tests.Maps;

/// <summary>Putting and getting numbers allocates no memory.</summary>
public sealed class MapAllocationTests : StoreTest
{
    [Fact]
    public void Numbers_allocate_nothing()
    {
        AssertNoAllocation(1, 2);
        AssertNoAllocation(1L, 2.5);
        AssertNoAllocation((byte)1, 'a');
        AssertNoAllocation((short)1, true);
        AssertNoAllocation(Guid.Empty, DayOfWeek.Friday);
        AssertNoAllocation(DateTime.UnixEpoch, TimeSpan.FromSeconds(1));
        AssertNoAllocation(DateTimeOffset.UnixEpoch, 1.25m);
        AssertNoAllocation(DateOnly.MinValue, TimeOnly.MaxValue);
        AssertNoAllocation((Int128)1, (Half)2);
    }

    [Fact]
    public void Text_as_a_key_allocates_nothing()
    {
        AssertNoAllocation("Dune", 1);
        AssertNoAllocation(new string('x', 1000), 1);
    }

    private void AssertNoAllocation<TKey, TValue>(TKey key, TValue value)
        where TKey : notnull
        where TValue : notnull
    {
        PersistentMap<TKey, TValue> map = Store.Map($"{typeof(TKey)} {typeof(TValue)}", PersistentMapTests.Kept<TKey, TValue>());
        UseAll(map, key, value); // Compiles the code and creates everything that is created once.

        long before = GC.GetAllocatedBytesForCurrentThread();
        UseAll(map, key, value);
        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;

        Assert.Equal(0, allocated);
    }

    private static void UseAll<TKey, TValue>(PersistentMap<TKey, TValue> map, TKey key, TValue value)
        where TKey : notnull
        where TValue : notnull
    {
        map.Remove(key);
        map.TryGet(key, out _);
        map.TryAdd(key, value);
        map.Set(key, value);
        map[key] = value;
        map.TryGet(key, out _);
        map.Get(key);
        map.Contains(key);
        map.GetOrAdd(key, value);
        map.AddOrUpdate(key, static (_, value) => value, static (_, _, value) => value, value);
        map.Set(key, value, TimeSpan.FromMinutes(1));
        map.TryGet(key, out _);
        map.Touch(key, Expiration.None);
        map.Remove(key, out _);
    }
}
