using System.Reflection;
using System.Runtime.CompilerServices;

namespace Cairn.Caching.Tests.Local;

/// <summary>All objects that can be reached from one object by fields and elements. Strings, types and delegates are values.</summary>
internal sealed class ObjectGraph
{
    private const int ObjectHeaderBytes = 16;
    private const int ArrayHeaderBytes = 24;

    private static readonly Dictionary<Type, FieldInfo[]> _fields = [];
    private static readonly Dictionary<Type, int> _sizes = [];

    private readonly Func<object, bool>? _isLeaf;
    private readonly HashSet<object> _visited = new(ReferenceEqualityComparer.Instance);
    private readonly Queue<object> _toVisit = new();

    /// <summary>Walks through the objects.</summary>
    /// <param name="root">The first object.</param>
    /// <param name="isLeaf">Returns true for objects that are not part of the graph.</param>
    public ObjectGraph(object root, Func<object, bool>? isLeaf = null)
    {
        _isLeaf = isLeaf;
        Visit(root);
        while (_toVisit.TryDequeue(out object? next))
        {
            Enter(next);
        }
    }

    /// <summary>The objects, from the root on.</summary>
    public IReadOnlyCollection<object> Objects => _visited;

    /// <summary>The values of all fields and elements that are no objects of the graph, and the references, in the order of the walk.</summary>
    public List<object?> Values { get; } = [];

    /// <summary>The bytes of all objects on the heap.</summary>
    public long Bytes { get; private set; }

    private void Enter(object entered)
    {
        if (entered is not Array array)
        {
            Bytes += ObjectHeaderBytes + FieldsOf(entered.GetType()).Sum(field => SizeOf(field.FieldType));
            AddFields(entered);
            return;
        }

        Bytes += ArrayHeaderBytes + ((long)array.Length * SizeOf(array.GetType().GetElementType()!));
        foreach (object? element in array)
        {
            Add(element);
        }
    }

    private void AddFields(object holder)
    {
        foreach (FieldInfo field in FieldsOf(holder.GetType()))
        {
            Add(field.GetValue(holder));
        }
    }

    private void Add(object? value)
    {
        if (value is null or string or Type or Delegate or Enum or Pointer || value.GetType().IsPrimitive)
        {
            Values.Add(value);
        }
        else if (value.GetType().IsValueType)
        {
            AddFields(value);
        }
        else
        {
            Values.Add(RuntimeHelpers.GetHashCode(value));
            Visit(value);
        }
    }

    private void Visit(object value)
    {
        if (_isLeaf?.Invoke(value) != true && _visited.Add(value))
        {
            _toVisit.Enqueue(value);
        }
    }

    private static FieldInfo[] FieldsOf(Type type)
    {
        if (!_fields.TryGetValue(type, out FieldInfo[]? fields))
        {
            const BindingFlags Own = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;
            fields = type.BaseType is { } parent ? [.. FieldsOf(parent), .. type.GetFields(Own)] : type.GetFields(Own);
            _fields[type] = fields;
        }

        return fields;
    }

    private static int SizeOf(Type type)
    {
        if (!_sizes.TryGetValue(type, out int size))
        {
            size = (int)typeof(Unsafe).GetMethod(nameof(Unsafe.SizeOf))!.MakeGenericMethod(type).Invoke(null, null)!;
            _sizes[type] = size;
        }

        return size;
    }
}
