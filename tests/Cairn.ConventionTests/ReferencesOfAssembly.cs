using System.Collections.Immutable;
using System.Reflection;
using System.Reflection.Emit;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;

namespace Cairn.ConventionTests;

/// <summary>One type of an assembly refers to another type of the same assembly.</summary>
/// <param name="Source">The outermost type that refers, with its namespace.</param>
/// <param name="Member">The member that refers, without the namespace of its type; the type's name if the declaration itself refers.</param>
/// <param name="Target">The outermost type that is referred to, with its namespace.</param>
internal readonly record struct CompiledReference(string Source, string Member, string Target);

/// <summary>Which types of an assembly refer to which others, read from metadata and instructions.</summary>
/// <remarks>
/// The reader sees base types, interfaces, constraints, fields, signatures, locals, caught exceptions, instructions with a type, method or field, generic
/// arguments, and attributes with their arguments. It does not see what the compiler leaves out: the value of a constant, also of an enumeration, stands
/// in place of its name, and so does the result of nameof. It reads no documentation comments.
/// </remarks>
internal sealed class ReferencesOfAssembly
{
    private static readonly Dictionary<int, OperandType> s_operands = typeof(OpCodes).GetFields(BindingFlags.Public | BindingFlags.Static)
        .Select(field => (OpCode)field.GetValue(null)!)
        .ToDictionary(code => (int)(ushort)code.Value, code => code.OperandType);

    private readonly PEReader _image;
    private readonly MetadataReader _metadata;
    private readonly TypeCollector _collector;
    private readonly Dictionary<TypeDefinitionHandle, string> _outermost = [];
    private readonly HashSet<CompiledReference> _references = [];
    private string _source = "";
    private string _member = "";

    private ReferencesOfAssembly(PEReader image)
    {
        _image = image;
        _metadata = image.GetMetadataReader();
        _collector = new TypeCollector(this);
    }

    public static IReadOnlyCollection<CompiledReference> Read(string path)
    {
        using var image = new PEReader(File.OpenRead(path));
        var reader = new ReferencesOfAssembly(image);
        foreach (TypeDefinitionHandle type in reader._metadata.TypeDefinitions)
        {
            reader.ReadType(type);
        }

        return reader._references;
    }

    private void ReadType(TypeDefinitionHandle handle)
    {
        TypeDefinition type = _metadata.GetTypeDefinition(handle);
        string name = NameWithoutNamespace(handle);
        _source = OutermostName(handle);
        _member = name;
        AddType(type.BaseType);
        AddParameters(type.GetGenericParameters());
        AddAttributes(type.GetCustomAttributes());
        foreach (InterfaceImplementationHandle implementation in type.GetInterfaceImplementations())
        {
            AddType(_metadata.GetInterfaceImplementation(implementation).Interface);
        }

        foreach (FieldDefinition field in type.GetFields().Select(_metadata.GetFieldDefinition))
        {
            _member = MemberName(name, _metadata.GetString(field.Name));
            field.DecodeSignature(_collector, null);
            AddAttributes(field.GetCustomAttributes());
        }

        foreach (PropertyDefinition property in type.GetProperties().Select(_metadata.GetPropertyDefinition))
        {
            _member = MemberName(name, _metadata.GetString(property.Name));
            AddAttributes(property.GetCustomAttributes());
        }

        foreach (MethodDefinition method in type.GetMethods().Select(_metadata.GetMethodDefinition))
        {
            _member = MemberName(name, _metadata.GetString(method.Name));
            ReadMethod(method);
        }
    }

    private void ReadMethod(MethodDefinition method)
    {
        method.DecodeSignature(_collector, null);
        AddParameters(method.GetGenericParameters());
        AddAttributes(method.GetCustomAttributes());
        foreach (Parameter parameter in method.GetParameters().Select(_metadata.GetParameter))
        {
            AddAttributes(parameter.GetCustomAttributes());
        }

        if (method.RelativeVirtualAddress == 0)
        {
            return;
        }

        MethodBodyBlock body = _image.GetMethodBody(method.RelativeVirtualAddress);
        if (!body.LocalSignature.IsNil)
        {
            _metadata.GetStandaloneSignature(body.LocalSignature).DecodeLocalSignature(_collector, null);
        }

        foreach (ExceptionRegion region in body.ExceptionRegions.Where(region => region.Kind == ExceptionRegionKind.Catch))
        {
            AddType(region.CatchType);
        }

        BlobReader instructions = body.GetILReader();
        while (instructions.RemainingBytes > 0)
        {
            if (TokenOf(ref instructions) is { } token)
            {
                AddToken(MetadataTokens.EntityHandle(token));
            }
        }
    }

    // The type, method or field of one instruction; null if it has none.
    private static int? TokenOf(ref BlobReader instructions)
    {
        int value = instructions.ReadByte();
        if (value == 0xFE)
        {
            value = 0xFE00 | instructions.ReadByte();
        }

        switch (s_operands[value])
        {
            case OperandType.InlineMethod or OperandType.InlineField or OperandType.InlineType or OperandType.InlineTok or OperandType.InlineSig:
                return instructions.ReadInt32();
            case OperandType.InlineNone:
                return null;
            case OperandType.ShortInlineBrTarget or OperandType.ShortInlineI or OperandType.ShortInlineVar:
                instructions.Offset++;
                return null;
            case OperandType.InlineVar:
                instructions.Offset += sizeof(short);
                return null;
            case OperandType.InlineI8 or OperandType.InlineR:
                instructions.Offset += sizeof(long);
                return null;
            case OperandType.InlineSwitch:
                int targets = instructions.ReadInt32();
                instructions.Offset += sizeof(int) * targets;
                return null;
            default:
                instructions.Offset += sizeof(int);
                return null;
        }
    }

    private void AddToken(EntityHandle handle)
    {
        switch (handle.Kind)
        {
            case HandleKind.MethodDefinition:
                Add(_metadata.GetMethodDefinition((MethodDefinitionHandle)handle).GetDeclaringType());
                break;
            case HandleKind.FieldDefinition:
                Add(_metadata.GetFieldDefinition((FieldDefinitionHandle)handle).GetDeclaringType());
                break;
            case HandleKind.MethodSpecification:
                MethodSpecification specification = _metadata.GetMethodSpecification((MethodSpecificationHandle)handle);
                specification.DecodeSignature(_collector, null);
                AddToken(specification.Method);
                break;
            case HandleKind.MemberReference:
                AddToken(_metadata.GetMemberReference((MemberReferenceHandle)handle).Parent);
                break;
            case HandleKind.StandaloneSignature:
                _metadata.GetStandaloneSignature((StandaloneSignatureHandle)handle).DecodeMethodSignature(_collector, null);
                break;
            default:
                AddType(handle);
                break;
        }
    }

    private void AddParameters(GenericParameterHandleCollection parameters)
    {
        foreach (GenericParameter parameter in parameters.Select(_metadata.GetGenericParameter))
        {
            foreach (GenericParameterConstraintHandle constraint in parameter.GetConstraints())
            {
                AddType(_metadata.GetGenericParameterConstraint(constraint).Type);
            }
        }
    }

    private void AddAttributes(CustomAttributeHandleCollection attributes)
    {
        foreach (CustomAttribute attribute in attributes.Select(_metadata.GetCustomAttribute))
        {
            AddToken(attribute.Constructor);
            foreach (CustomAttributeTypedArgument<string?> argument in ArgumentsOf(attribute))
            {
                if (argument.Value is string type && argument.Type == TypeCollector.TypeOfTypes)
                {
                    AddNamed(type);
                }
            }
        }
    }

    private IEnumerable<CustomAttributeTypedArgument<string?>> ArgumentsOf(CustomAttribute attribute)
    {
        CustomAttributeValue<string?> value = attribute.DecodeValue(_collector);
        return value.FixedArguments.Concat(value.NamedArguments.Select(named => new CustomAttributeTypedArgument<string?>(named.Type, named.Value)));
    }

    // An attribute names a type by text: "Namespace.Outer+Nested, Assembly". Only a type of this assembly has no assembly behind its name.
    private void AddNamed(string type)
    {
        string name = type.Split('+', '[', ',')[0];
        if (!type.Contains(',', StringComparison.Ordinal) && name.Length > 0)
        {
            _references.Add(new CompiledReference(_source, _member, name));
        }
    }

    private void AddType(EntityHandle type)
    {
        if (type.IsNil)
        {
            return;
        }

        if (type.Kind == HandleKind.TypeDefinition)
        {
            Add((TypeDefinitionHandle)type);
        }
        else if (type.Kind == HandleKind.TypeSpecification)
        {
            _metadata.GetTypeSpecification((TypeSpecificationHandle)type).DecodeSignature(_collector, null);
        }
    }

    private void Add(TypeDefinitionHandle type)
    {
        string target = OutermostName(type);
        if (target != _source)
        {
            _references.Add(new CompiledReference(_source, _member, target));
        }
    }

    private string OutermostName(TypeDefinitionHandle handle)
    {
        if (!_outermost.TryGetValue(handle, out string? name))
        {
            TypeDefinition type = _metadata.GetTypeDefinition(handle);
            name = type.GetDeclaringType().IsNil ? FullName(type) : OutermostName(type.GetDeclaringType());
            _outermost.Add(handle, name);
        }

        return name;
    }

    private string FullName(TypeDefinition type) =>
        type.Namespace.IsNil ? _metadata.GetString(type.Name) : $"{_metadata.GetString(type.Namespace)}.{_metadata.GetString(type.Name)}";

    private string NameWithoutNamespace(TypeDefinitionHandle handle)
    {
        TypeDefinition type = _metadata.GetTypeDefinition(handle);
        string name = _metadata.GetString(type.Name);
        return type.GetDeclaringType().IsNil ? name : MemberName(NameWithoutNamespace(type.GetDeclaringType()), name);
    }

    // The compiler names what it makes of a method "<Method>d__1" or "<>c__DisplayClass1_0": the reader wants the method.
    private static string MemberName(string type, string member)
    {
        if (!member.StartsWith('<'))
        {
            // The body of an async method or lambda belongs to the method that is already named.
            return type.EndsWith("()", StringComparison.Ordinal) ? type : $"{type}.{member}";
        }

        string method = member[1..member.IndexOf('>', StringComparison.Ordinal)];
        return method.Length == 0 || type.EndsWith("()", StringComparison.Ordinal) ? type : $"{type}.{method}()";
    }

    // Adds every type of this assembly that a signature names. Its own value says only which attribute arguments are types.
    private sealed class TypeCollector(ReferencesOfAssembly owner) : ISignatureTypeProvider<string?, object?>, ICustomAttributeTypeProvider<string?>
    {
        public const string TypeOfTypes = "System.Type";

        public string? GetTypeFromDefinition(MetadataReader reader, TypeDefinitionHandle handle, byte rawTypeKind)
        {
            owner.Add(handle);
            return null;
        }

        public string? GetTypeFromSpecification(MetadataReader reader, object? genericContext, TypeSpecificationHandle handle, byte rawTypeKind) =>
            reader.GetTypeSpecification(handle).DecodeSignature(this, genericContext);

        public string? GetTypeFromReference(MetadataReader reader, TypeReferenceHandle handle, byte rawTypeKind) =>
            reader.StringComparer.Equals(reader.GetTypeReference(handle).Name, "Type") ? TypeOfTypes : null;

        public string? GetModifiedType(string? modifier, string? unmodifiedType, bool isRequired) => null;

        public string? GetFunctionPointerType(MethodSignature<string?> signature) => null;

        public string? GetGenericInstantiation(string? genericType, ImmutableArray<string?> typeArguments) => null;

        public string? GetArrayType(string? elementType, ArrayShape shape) => null;

        public string? GetByReferenceType(string? elementType) => null;

        public string? GetGenericMethodParameter(object? genericContext, int index) => null;

        public string? GetGenericTypeParameter(object? genericContext, int index) => null;

        public string? GetPinnedType(string? elementType) => null;

        public string? GetPointerType(string? elementType) => null;

        public string? GetPrimitiveType(PrimitiveTypeCode typeCode) => null;

        public string? GetSZArrayType(string? elementType) => null;

        public string? GetSystemType() => TypeOfTypes;

        public string? GetTypeFromSerializedName(string name) => name;

        public bool IsSystemType(string? type) => type == TypeOfTypes;

        // Enumerations of this project have the compiler's usual size. A wrong size would end in an exception, not in a missed reference.
        public PrimitiveTypeCode GetUnderlyingEnumType(string? type) => PrimitiveTypeCode.Int32;
    }
}
