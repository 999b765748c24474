using System.Collections.Immutable;
using System.Reflection;
using System.Reflection.Emit;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;

namespace Cairn.ConventionTests;

/// <summary>A call in compiled code.</summary>
/// <param name="Caller">The outermost type that the code stands in, with its namespace.</param>
/// <param name="Callee">Type and method that are called.</param>
/// <param name="IsInAsyncMethod">Whether the code is the body of an async method, which calls GetResult for every await.</param>
internal readonly record struct CompiledCall(string Caller, string Callee, bool IsInAsyncMethod);

/// <summary>What the code of an assembly calls, read from its instructions.</summary>
internal static class CallsOfAssembly
{
    private static readonly Dictionary<int, OpCode> OpCodesByValue = typeof(OpCodes).GetFields(BindingFlags.Public | BindingFlags.Static)
        .Select(field => (OpCode)field.GetValue(null)!)
        .ToDictionary(code => (int)(ushort)code.Value);

    public static IReadOnlyList<CompiledCall> Read(string path)
    {
        using var image = new PEReader(File.OpenRead(path));
        MetadataReader metadata = image.GetMetadataReader();
        var calls = new List<CompiledCall>();
        foreach (MethodDefinition method in metadata.MethodDefinitions.Select(metadata.GetMethodDefinition))
        {
            if (method.RelativeVirtualAddress == 0)
            {
                continue;
            }

            TypeDefinition type = metadata.GetTypeDefinition(method.GetDeclaringType());
            string caller = OutermostName(metadata, type);
            bool isAsync = type.GetInterfaceImplementations().Any(implementation =>
                TypeName(metadata, metadata.GetInterfaceImplementation(implementation).Interface).EndsWith("IAsyncStateMachine", StringComparison.Ordinal));
            BlobReader instructions = image.GetMethodBody(method.RelativeVirtualAddress).GetILReader();
            while (instructions.RemainingBytes > 0)
            {
                if (ReadInstruction(ref instructions) is { } token && CalleeName(metadata, MetadataHandle(token)) is { } callee)
                {
                    calls.Add(new CompiledCall(caller, callee, isAsync));
                }
            }
        }

        return calls;
    }

    // The token of the method that is called or whose address is taken; null for other instructions.
    private static int? ReadInstruction(ref BlobReader instructions)
    {
        int value = instructions.ReadByte();
        if (value == 0xFE)
        {
            value = 0xFE00 | instructions.ReadByte();
        }

        OpCode code = OpCodesByValue[value];
        switch (code.OperandType)
        {
            case OperandType.InlineMethod:
                return instructions.ReadInt32();
            case OperandType.InlineNone:
                return null;
            case OperandType.ShortInlineBrTarget or OperandType.ShortInlineI or OperandType.ShortInlineVar:
                instructions.Offset++;
                return null;
            case OperandType.InlineVar:
                instructions.Offset += 2;
                return null;
            case OperandType.InlineI8 or OperandType.InlineR:
                instructions.Offset += 8;
                return null;
            case OperandType.InlineSwitch:
                int targets = instructions.ReadInt32();
                instructions.Offset += sizeof(int) * targets;
                return null;
            default:
                instructions.Offset += 4;
                return null;
        }
    }

    private static EntityHandle MetadataHandle(int token) => (EntityHandle)System.Reflection.Metadata.Ecma335.MetadataTokens.Handle(token);

    private static string? CalleeName(MetadataReader metadata, EntityHandle method)
    {
        switch (method.Kind)
        {
            case HandleKind.MethodSpecification:
                return CalleeName(metadata, metadata.GetMethodSpecification((MethodSpecificationHandle)method).Method);
            case HandleKind.MemberReference:
                MemberReference member = metadata.GetMemberReference((MemberReferenceHandle)method);
                return $"{TypeName(metadata, member.Parent)}.{metadata.GetString(member.Name)}";
            case HandleKind.MethodDefinition:
                MethodDefinition own = metadata.GetMethodDefinition((MethodDefinitionHandle)method);
                return $"{OutermostName(metadata, metadata.GetTypeDefinition(own.GetDeclaringType()))}.{metadata.GetString(own.Name)}";
            default:
                return null;
        }
    }

    private static string TypeName(MetadataReader metadata, EntityHandle type)
    {
        switch (type.Kind)
        {
            case HandleKind.TypeReference:
                TypeReference reference = metadata.GetTypeReference((TypeReferenceHandle)type);
                return $"{metadata.GetString(reference.Namespace)}.{metadata.GetString(reference.Name)}";
            case HandleKind.TypeSpecification:
                return metadata.GetTypeSpecification((TypeSpecificationHandle)type).DecodeSignature(new NameOfGenericType(), null);
            default:
                return "";
        }
    }

    private static string OutermostName(MetadataReader metadata, TypeDefinition type)
    {
        while (!type.GetDeclaringType().IsNil)
        {
            type = metadata.GetTypeDefinition(type.GetDeclaringType());
        }

        return $"{metadata.GetString(type.Namespace)}.{metadata.GetString(type.Name)}";
    }

    // Of a constructed type, the name of the generic type it is made from. Nothing else is of interest.
    private sealed class NameOfGenericType : ISignatureTypeProvider<string, object?>
    {
        public string GetGenericInstantiation(string genericType, ImmutableArray<string> typeArguments) => genericType;

        public string GetTypeFromReference(MetadataReader reader, TypeReferenceHandle handle, byte rawTypeKind) => TypeName(reader, handle);

        public string GetTypeFromDefinition(MetadataReader reader, TypeDefinitionHandle handle, byte rawTypeKind) => "";

        public string GetTypeFromSpecification(MetadataReader reader, object? genericContext, TypeSpecificationHandle handle, byte rawTypeKind) => "";

        public string GetArrayType(string elementType, ArrayShape shape) => "";

        public string GetByReferenceType(string elementType) => "";

        public string GetFunctionPointerType(MethodSignature<string> signature) => "";

        public string GetGenericMethodParameter(object? genericContext, int index) => "";

        public string GetGenericTypeParameter(object? genericContext, int index) => "";

        public string GetModifiedType(string modifier, string unmodifiedType, bool isRequired) => "";

        public string GetPinnedType(string elementType) => "";

        public string GetPointerType(string elementType) => "";

        public string GetPrimitiveType(PrimitiveTypeCode typeCode) => "";

        public string GetSZArrayType(string elementType) => "";
    }
}
