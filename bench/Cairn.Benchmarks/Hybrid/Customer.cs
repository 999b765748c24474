using System.ComponentModel;
using System.Globalization;

namespace Cairn.Benchmarks.Hybrid;

/// <summary>An immutable value, marked as such: all readers may share one object.</summary>
[ImmutableObject(true)]
internal sealed class Customer(int number, string name)
{
    public int Number { get; } = number;

    public string Name { get; } = name;
}

/// <summary>A mutable value: each reader must get its own copy.</summary>
internal sealed class MutableCustomer
{
    public int Number { get; set; }

    public string Name { get; set; } = string.Empty;
}

/// <summary>Creates the values that the caches hold.</summary>
internal static class CustomerValues
{
    public static string Text(int number) =>
        string.Create(CultureInfo.InvariantCulture, $"name of customer {number:D10}").PadRight(HybridScale.ValueChars, '.');

    public static Customer Shareable(int number) => new(number, Text(number));

    public static MutableCustomer Mutable(int number) => new() { Number = number, Name = Text(number) };
}
